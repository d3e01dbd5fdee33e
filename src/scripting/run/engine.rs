//! Script engine: the language without some of its functions, with the host functions and the
//! limits.

use rhai::packages::{Package, StandardPackage};
use rhai::{Engine, NativeCallContext, OptimizationLevel, Token};

use super::{limits, values};
use crate::scripting::host::functions;

/// Symbols that are disabled, since they run text or access more than a script needs.
const DISABLED: [&str; 1] = ["eval"];

/// Functions of the language without visible output; `log` replaces them.
const NO_OUTPUT: [&str; 2] = ["print", "debug"];

/// Reserved words of the language that are names of host functions.
const HOST_KEYWORDS: [&str; 1] = ["void"];

/// Returns an engine with every host function and limit. The engine reads no clock, disk or random
/// number.
pub(crate) fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    StandardPackage::new().register_into_engine(&mut engine);
    limits::set_limits(&mut engine);
    for word in DISABLED {
        engine.disable_symbol(word);
    }
    engine
        .set_optimization_level(OptimizationLevel::None)
        .set_fail_on_invalid_map_property(true)
        .set_allow_shadowing(true);
    allow_host_keywords(&mut engine);
    values::register(&mut engine);
    functions::register(&mut engine);
    engine
}

#[expect(
    deprecated,
    reason = "its only complaint is that it may change; the version is pinned by the lock file"
)]
fn allow_host_keywords(engine: &mut Engine) {
    engine.on_parse_token(|token, _, _| {
        if let Token::Reserved(word) = &token
            && HOST_KEYWORDS.contains(&word.as_str())
        {
            return Token::Identifier(word.clone());
        }
        token
    });
}

/// Returns the language's own functions and operators, by name and argument count.
pub(crate) fn builtin_functions(engine: &Engine) -> Vec<(String, usize)> {
    let none: Option<&NativeCallContext<'_>> = None;
    engine.collect_fn_metadata(
        none,
        |info| {
            let name = info.metadata.name.to_string();
            (!NO_OUTPUT.contains(&name.as_str())).then_some((name, info.metadata.num_params))
        },
        true,
    )
}
