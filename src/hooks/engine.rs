//! The language as scripts have it: what is taken from it, what is added, what it may take.

use rhai::packages::{Package, StandardPackage};
use rhai::{Engine, NativeCallContext, OptimizationLevel, Token};

use super::{bound, host, values};

/// What may not be called: it runs text, or reaches for what no script needs.
const OFF: [&str; 1] = ["eval"];

/// What the language has and nobody would see: `log` is for that.
const UNSEEN: [&str; 2] = ["print", "debug"];

/// Words that the language keeps for itself and a host function is named by.
const OURS: [&str; 1] = ["void"];

/// An engine with every host function and bound. Nothing of it reads a clock, the disk or a random number.
pub(super) fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    StandardPackage::new().register_into_engine(&mut engine);
    bound::bind(&mut engine);
    for word in OFF {
        engine.disable_symbol(word);
    }
    engine
        .set_optimization_level(OptimizationLevel::None)
        .set_fail_on_invalid_map_property(true)
        .set_allow_shadowing(true);
    take_words(&mut engine);
    values::register(&mut engine);
    host::register(&mut engine);
    engine
}

#[expect(
    deprecated,
    reason = "its only complaint is that it may change; the version is pinned by the lock file"
)]
fn take_words(engine: &mut Engine) {
    engine.on_parse_token(|token, _, _| {
        if let Token::Reserved(word) = &token
            && OURS.contains(&word.as_str())
        {
            return Token::Identifier(word.clone());
        }
        token
    });
}

/// The functions of the language itself, by name and number of arguments; the operators are among them.
pub(super) fn builtin(engine: &Engine) -> Vec<(String, usize)> {
    let none: Option<&NativeCallContext<'_>> = None;
    engine.collect_fn_metadata(
        none,
        |info| {
            let name = info.metadata.name.to_string();
            (!UNSEEN.contains(&name.as_str())).then_some((name, info.metadata.num_params))
        },
        true,
    )
}
