//! Checks the literal values of templates: each placeholder has a value, and each value has a
//! placeholder.

use rhai::{Expr, FnCallExpr};

use super::walk::FileChecker;
use crate::base::suggestion;
use crate::scripting::host::template::Template;

/// Option that names a template, and the index of the argument with its values.
const OPTION: &str = "template";
const VALUES: usize = 1;

impl FileChecker<'_> {
    /// Checks a call with a template. `skipped` is 1 if the first argument is before a dot.
    pub(super) fn check_template(&mut self, call: &FnCallExpr, skipped: usize) {
        let values = call.args.get(VALUES.saturating_sub(skipped));
        let Some(Expr::Map(options, _)) = call.args.last() else { return };
        let named = options.0.iter().find(|(key, _)| key.name == OPTION);
        let Some((_, Expr::StringConstant(name, _))) = named else { return };
        let (Some(template), Some(values)) = (self.set.known.templates.get(name.as_str()), values)
        else {
            return;
        };
        if let Expr::Map(given, at) = values {
            let keys: Vec<(&str, rhai::Position)> =
                given.0.iter().map(|(key, _)| (key.name.as_str(), key.pos)).collect();
            self.check_values(name, template, &keys, *at);
        } else if matches!(values, Expr::StringConstant(..) | Expr::InterpolatedString(..)) {
            let message = format!("the template `{name}` is filled in by a map, not a text");
            let help = format!("write `#{{{}}}`", required_values(template));
            self.report(values.start_position(), "template", &message, &help);
        }
    }

    fn check_values(
        &mut self,
        name: &str,
        template: &Template,
        keys: &[(&str, rhai::Position)],
        at: rhai::Position,
    ) {
        let names = template.names();
        for missing in names.iter().filter(|name| keys.iter().all(|(key, _)| key != *name)) {
            let message =
                format!("nothing is given for `{{{{{missing}}}}}` of the template `{name}`");
            let help = format!("write `#{{{}}}`", required_values(template));
            self.report(at, "template", &message, &help);
        }
        for (key, at) in keys.iter().filter(|(key, _)| !names.contains(key)) {
            let message = format!("the template `{name}` has no placeholder `{{{{{key}}}}}`");
            let help = suggestion::suggestion_help(key, names.iter().copied().collect::<Vec<_>>());
            self.report(*at, "template", &message, &help);
        }
    }
}

/// Formats the required values of a template as a map.
fn required_values(template: &Template) -> String {
    let names: Vec<String> = template.names().iter().map(|name| format!("{name}: …")).collect();
    names.join(", ")
}
