//! Script engine: the language without some of its functions, with the host functions and the
//! limits.

use std::any::TypeId;

use rhai::packages::{Package, StandardPackage};
use rhai::{Dynamic, Engine, EvalAltResult, NativeCallContext, OptimizationLevel, Position, Token};

use crate::scripting::host::call::{HostCall, HostFn};
use crate::scripting::host::register::rows;
use crate::scripting::host::session::{HostError, RunLimitError, RunSession};
use crate::scripting::language::values::throw;
use crate::scripting::language::{limits, values};

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
    register_host_functions(&mut engine);
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

/// Registers every host function.
fn register_host_functions(engine: &mut Engine) {
    engine.register_type_with_name::<RunLimitError>("bound");
    engine.register_fn("to_string", |beyond: &mut RunLimitError| beyond.to_string());
    for row in rows() {
        let least = row.arguments.len();
        let most = if row.options.is_empty() { least } else { least.saturating_add(1) };
        for count in least..=most {
            for name in row.names() {
                let types = vec![TypeId::of::<Dynamic>(); count];
                engine.register_raw_fn(name, types, move |context, arguments| {
                    let arguments = arguments.iter_mut().map(|argument| argument.flatten_clone());
                    run_host_function((row, name), &context, arguments.collect())
                });
            }
        }
    }
}

fn run_host_function(
    (row, name): (&HostFn, &'static str),
    context: &NativeCallContext<'_>,
    arguments: Vec<Dynamic>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    let session = context.tag().and_then(|tag| tag.clone().try_cast::<RunSession>());
    let session = session.ok_or_else(|| throw(format!("`{name}` works in hooks alone")))?;
    let call = HostCall::new(&session, (row, name), arguments);
    call.and_then(|call| (row.call)(&call)).map_err(|refused| match refused {
        HostError::Invalid(message) => throw(message),
        HostError::LimitExceeded(message) => {
            EvalAltResult::ErrorRuntime(Dynamic::from(RunLimitError(message)), Position::NONE)
                .into()
        }
    })
}
