//! The classes of resources: their order, colours, symbols and words, the same in every view.

use owo_colors::Style;

use crate::base::wording::count_verb;
use crate::engine::protocol::views::StandingCounts;
use crate::model::plan::Standing;
use crate::render::words::Screen;

/// Colours of a line: red needs a person, yellow is on its way or left as it is.
pub(in crate::render) fn style(standing: Standing) -> Style {
    match standing {
        Standing::NeedsAttention | Standing::Invalid | Standing::Unhealthy => Style::new().red(),
        Standing::Changing | Standing::Waiting | Standing::Suspended | Standing::Undocumented => {
            Style::new().yellow()
        }
        Standing::Ready => Style::new(),
    }
}

/// Returns the symbol before a name, coloured.
pub(in crate::render) fn symbol(standing: Standing, screen: Screen) -> String {
    match standing {
        Standing::Ready => screen.paint(Style::new().green(), "✓"),
        Standing::NeedsAttention | Standing::Invalid | Standing::Unhealthy => {
            screen.paint(style(standing), "✗")
        }
        Standing::Changing | Standing::Waiting | Standing::Suspended | Standing::Undocumented => {
            screen.paint(style(standing), "•")
        }
    }
}

/// Returns `58 ready, 3 waiting, 1 needs attention`: counts that add up to all resources.
pub(in crate::render) fn counts(counts: &StandingCounts) -> String {
    let StandingCounts { needs_attention, invalid, unhealthy, changing, .. } = counts;
    let StandingCounts { waiting, suspended, undocumented, ready, .. } = counts;
    let parts = [
        (ready, format!("{ready} ready")),
        (changing, format!("{changing} to change")),
        (waiting, format!("{waiting} waiting")),
        (suspended, format!("{suspended} suspended")),
        (undocumented, format!("{undocumented} without a document")),
        (unhealthy, format!("{unhealthy} unhealthy")),
        (invalid, count_verb(*invalid, "has an invalid document", "have invalid documents")),
        (needs_attention, count_verb(*needs_attention, "needs attention", "need attention")),
    ];
    let some = parts.into_iter().filter(|(count, _)| **count > 0).map(|(_, words)| words);
    some.collect::<Vec<_>>().join(", ")
}

/// Counts the classes of these resources.
pub(in crate::render) fn count(standings: impl Iterator<Item = Standing>) -> StandingCounts {
    let mut counts = StandingCounts::default();
    for standing in standings {
        let count = match standing {
            Standing::NeedsAttention => &mut counts.needs_attention,
            Standing::Invalid => &mut counts.invalid,
            Standing::Unhealthy => &mut counts.unhealthy,
            Standing::Changing => &mut counts.changing,
            Standing::Waiting => &mut counts.waiting,
            Standing::Suspended => &mut counts.suspended,
            Standing::Undocumented => &mut counts.undocumented,
            Standing::Ready => &mut counts.ready,
        };
        *count = count.saturating_add(1);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_left_out_and_the_verb_fits_its_number() {
        let mut some =
            StandingCounts { ready: 58, waiting: 3, needs_attention: 1, ..count([].into_iter()) };
        assert_eq!(counts(&some), "58 ready, 3 waiting, 1 needs attention");
        some = StandingCounts { invalid: 2, needs_attention: 0, ..some };
        assert_eq!(counts(&some), "58 ready, 3 waiting, 2 have invalid documents");
    }

    #[test]
    fn each_class_has_one_count() {
        let each = [Standing::NeedsAttention, Standing::Ready, Standing::Ready, Standing::Waiting];
        let counted = count(each.into_iter());
        assert_eq!((counted.needs_attention, counted.ready, counted.waiting), (1, 2, 1));
    }
}
