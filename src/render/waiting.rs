//! Renders the results of `wait` and `reconcile`.

use crate::base::id::Key;
use crate::base::wording::count_noun;
use crate::engine::protocol::actions::EffectReport;
use crate::engine::protocol::views::{Overview, ResourceView};
use crate::render::words::{Screen, clean, push_line, resource_key};
use crate::render::{effects, overview};

/// Renders the resources that do not satisfy a condition, with their reasons; or that all do.
pub fn outcome(
    goal: &str,
    resources: usize,
    unmet: &[(Key, &str, &str)],
    screen: Screen,
) -> String {
    let mut out = String::new();
    for (key, reason, message) in unmet {
        let name = screen.bold(&clean(&key.short()));
        push_line!(out, "{name}  {}: {}", clean(reason), clean(message));
    }
    let met = resources.saturating_sub(unmet.len());
    let all = count_noun(resources, "resource");
    if unmet.is_empty() {
        push_line!(out, "{all}: {goal}");
    } else {
        push_line!(out, "{all}: {met} {goal}, {} not {goal} when the time was over", unmet.len());
    }
    out
}

/// Renders the effects of one reconciliation, the named resource, and the state of all resources.
pub fn reconciled(
    done: &[EffectReport],
    named: Option<&ResourceView>,
    status: &Overview,
    screen: Screen,
) -> String {
    let mut out = String::new();
    for one in done {
        push_line!(out, "{}", effects::effect_line(one, screen));
    }
    out.push_str(&effects::applied(done, screen));
    if let Some(view) = named {
        let name = resource_key(&view.kind, &view.namespace, &view.name);
        push_line!(out, "{name}  {}: {}", clean(&view.reason), clean(&view.message));
    }
    format!("{out}{}", overview::overview(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_add_up() {
        let key: Key = "Invoice/jane".parse().unwrap();
        let waits = [(key, "WaitsFor", "waits for Contact/jane")];
        assert_eq!(
            outcome("ready", 3, &waits, Screen::PLAIN),
            "Invoice/jane  WaitsFor: waits for Contact/jane\n\
            3 resources: 2 ready, 1 not ready when the time was over\n"
        );
        assert_eq!(outcome("synced", 1, &[], Screen::PLAIN), "1 resource: synced\n");
    }
}
