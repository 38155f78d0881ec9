//! A WebAssembly plugin. A module sees only a line of JSON and, if the user granted it, a clock. It has no files,
//! network, environment variables or random numbers. Each call has its own instance.
//!
//! A module exports `memory`, `tessera_abi() -> i32` (returns 1), `alloc(length) -> place` for the message, and
//! `handle(place, length) -> i64`. The upper half of this result is the address of the answer, and the lower half is
//! its length. If the user granted a clock, the module may import `tessera.clock() -> i64`, the microseconds since
//! 1970.

use std::time::{Duration, Instant};

use wasmi::{
    CompilationMode, Config, CustomFuelCosts, Engine, Error, Extern, Instance, Linker, Memory, Module, Store,
    StoreLimits, StoreLimitsBuilder, TrapCode, TypedResumableCall, WasmParams, WasmResults,
};

use crate::failure::{Failure, PluginError};
use crate::manifest::Manifest;
use crate::{ABI, MOST_OUTPUT};

/// The name of the section that contains the manifest of a module.
pub const SECTION: &str = "tessera.plugin";
/// The number of steps between two checks of the time. These steps take about half a millisecond.
const SLICE: u64 = 200_000;
/// A module that runs out of steps while a function is being translated could not continue. So a translation consumes
/// no steps. The size of the file limits the work of the translation.
const COSTS: CustomFuelCosts =
    CustomFuelCosts { bytes_copied_per_fuel: 64, fuel_per_bytes_translated: 0, fuel_per_bytes_validated: 0 };
/// The maximum depth of nested calls, and the maximum size of their values in bytes.
const MOST_DEPTH: usize = 1_000;
const MOST_STACK: usize = 1024 * 1024;

/// The limits of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// The maximum number of steps of a WASM plugin. For programs, only the time is limited.
    pub fuel: u64,
    /// The maximum memory of a WASM plugin, in bytes.
    pub memory: usize,
}

impl Limits {
    /// The limits of a call for which a caller waits: one second, one billion steps and 16 MiB.
    pub const WAITED: Self = Self { time: Duration::from_secs(1), fuel: 1_000_000_000, memory: 16 * 1024 * 1024 };
    /// For a call during a prompt: 5 ms.
    pub const PROMPT: Self = Self { time: Duration::from_millis(5), ..Self::WAITED };
    /// For a call that nobody waits for: ten seconds.
    pub const UNWAITED: Self = Self { time: Duration::from_secs(10), fuel: 10_000_000_000, ..Self::WAITED };
}

/// The limits of a call, and the time that its clock shows.
struct Bounds {
    limits: StoreLimits,
    clock: Option<i64>,
}

/// A call under way.
struct Call {
    store: Store<Bounds>,
    started: Instant,
    given: Limits,
    used: u64,
}

/// Calls a module, and returns the bytes of its answer and the number of its steps.
pub(crate) fn call(bytes: &[u8], message: &[u8], clock: Option<i64>, given: Limits) -> (Result<Vec<u8>, Failure>, u64) {
    let started = Instant::now();
    let engine = engine(CompilationMode::Lazy);
    let module = match Module::new(&engine, bytes) {
        Ok(module) => module,
        Err(error) => return (Err(Failure::Start(error.to_string())), 0),
    };
    let limits = StoreLimitsBuilder::new()
        .memory_size(given.memory)
        .memories(1)
        .tables(4)
        .table_elements(100_000)
        .instances(1)
        .build();
    let mut store = Store::new(&engine, Bounds { limits, clock });
    store.limiter(|bounds| &mut bounds.limits);
    let mut call = Call { store, started, given, used: 0 };
    let output = call.talk(&engine, &module, message);
    (output, call.used)
}

impl Call {
    fn talk(&mut self, engine: &Engine, module: &Module, message: &[u8]) -> Result<Vec<u8>, Failure> {
        let instance = instance(engine, module, &mut self.store)?;
        let Some(memory) = instance.get_export(&self.store, "memory").and_then(Extern::into_memory) else {
            return Err(Failure::Start("it exports no WebAssembly memory".to_owned()));
        };
        let abi: u32 = self.call(instance, "tessera_abi", ())?;
        if abi != ABI {
            return Err(Failure::Start(format!(
                "it uses ABI {abi}, but this version of Tessera supports only ABI {ABI}"
            )));
        }
        let length = u32::try_from(message.len()).map_err(|_| Failure::Start("the message is too long".to_owned()))?;
        let place: u32 = self.call(instance, "alloc", length)?;
        memory
            .write(&mut self.store, place as usize, message)
            .map_err(|_| Failure::Answer("alloc returned an address outside the memory".to_owned()))?;
        let packed: u64 = self.call(instance, "handle", (place, length))?;
        answer(memory, &self.store, packed)
    }

    /// Calls an export within the remaining time and steps.
    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        instance: Instance,
        name: &str,
        parameters: P,
    ) -> Result<R, Failure> {
        let Ok(function) = instance.get_typed_func::<P, R>(&self.store, name) else {
            return Err(Failure::Start(format!(
                "it does not export the function {name} with the signature of ABI {ABI}"
            )));
        };
        let mut slice = self.refuel(0)?;
        let mut called = function.call_resumable(&mut self.store, parameters);
        loop {
            match called {
                Ok(TypedResumableCall::Finished(value)) => {
                    self.count(slice);
                    return Ok(value);
                }
                Ok(TypedResumableCall::OutOfFuel(paused)) => {
                    self.count(slice);
                    slice = self.refuel(paused.required_fuel())?;
                    called = paused.resume(&mut self.store);
                }
                Ok(TypedResumableCall::HostTrap(_)) => {
                    return Err(Failure::Stopped("a call from the module failed".to_owned()));
                }
                Err(error) => {
                    self.count(slice);
                    return Err(stopped(&error));
                }
            }
        }
    }

    /// Adds what a slice used.
    fn count(&mut self, slice: u64) {
        self.used += slice.saturating_sub(self.store.get_fuel().unwrap_or_default());
    }

    /// Gives the module at least `least` steps for its next slice. Returns an error if its time or its total number of
    /// steps is used up.
    fn refuel(&mut self, least: u64) -> Result<u64, Failure> {
        if self.started.elapsed() >= self.given.time {
            return Err(Failure::Late(self.given.time));
        }
        let left = self.given.fuel.saturating_sub(self.used);
        if left == 0 || least > left {
            return Err(Failure::Fuel(self.given.fuel));
        }
        let slice = SLICE.max(least).min(left);
        self.store.set_fuel(slice).map_err(|error| Failure::Start(error.to_string()))?;
        Ok(slice)
    }
}

fn engine(mode: CompilationMode) -> Engine {
    let mut config = Config::default();
    config
        .consume_fuel(true)
        .compilation_mode(mode)
        .allow_start_fn(false)
        .wasm_multi_memory(false)
        .fuel_cost(COSTS)
        .set_max_recursion_depth(MOST_DEPTH)
        .set_max_stack_height(MOST_STACK);
    Engine::new(&config)
}

fn instance(engine: &Engine, module: &Module, store: &mut Store<Bounds>) -> Result<Instance, Failure> {
    let start = |error: Error| Failure::Start(error.to_string());
    let mut linker = Linker::new(engine);
    if let Some(time) = store.data().clock {
        linker
            .func_wrap("tessera", "clock", move || -> i64 { time })
            .map_err(|error| Failure::Start(error.to_string()))?;
    }
    // Copying data segments costs steps.
    store.set_fuel(SLICE).map_err(start)?;
    linker.instantiate_and_start(store, module).map_err(start)
}

/// Reads the answer. Its address and its length are packed into one number.
fn answer(memory: Memory, store: &Store<Bounds>, packed: u64) -> Result<Vec<u8>, Failure> {
    let half = |bits: u64| usize::try_from(bits & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    let (place, length) = (half(packed >> 32), half(packed));
    if length > MOST_OUTPUT {
        return Err(Failure::Answer(format!("it is {length} bytes long; the maximum is {MOST_OUTPUT} bytes")));
    }
    let bytes = place.checked_add(length).and_then(|end| memory.data(store).get(place..end));
    bytes.map(<[u8]>::to_vec).ok_or_else(|| Failure::Answer("it is outside the memory of the module".to_owned()))
}

fn stopped(error: &Error) -> Failure {
    let why = match error.as_trap_code() {
        Some(TrapCode::UnreachableCodeReached) => "it panicked".to_owned(),
        Some(TrapCode::StackOverflow) => "calls are nested too deeply".to_owned(),
        Some(TrapCode::GrowthOperationLimited) => "it needs too much memory".to_owned(),
        _ => error.to_string(),
    };
    Failure::Stopped(why)
}

/// Validates and translates a module completely, checks its imports, and returns its manifest. `None` without a
/// manifest.
///
/// # Errors
/// Returns an error if the bytes are not a valid module, an import is unknown, or the manifest is invalid.
pub fn examine(bytes: &[u8]) -> Result<Option<Manifest>, PluginError> {
    let wrong = |problem: String| PluginError::of("module", problem);
    let engine = engine(CompilationMode::Eager);
    let module = Module::new(&engine, bytes).map_err(|error| wrong(error.to_string()))?;
    for import in module.imports() {
        if (import.module(), import.name()) != ("tessera", "clock") {
            let what = format!("{}.{}", import.module(), import.name());
            return Err(wrong(format!(
                "imports {what}, which does not exist; a plugin has no files, no network and no WASI (build it for \
                wasm32-unknown-unknown)"
            )));
        }
    }
    for export in ["memory", "tessera_abi", "alloc", "handle"] {
        if module.get_export(export).is_none() {
            return Err(wrong(format!("does not export {export}")));
        }
    }
    let section = module.custom_sections().find(|section| section.name() == SECTION);
    let Some(section) = section else { return Ok(None) };
    let text = std::str::from_utf8(section.data()).map_err(|_| wrong("its manifest is not UTF-8".to_owned()))?;
    Manifest::read(text).map(Some)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn module(text: &str) -> Vec<u8> {
        let text = format!(
            r#"(module {text} (memory (export "memory") 2)
                 (func (export "tessera_abi") (result i32) (i32.const 1))
                 (func (export "alloc") (param i32) (result i32) (i32.const 65536)))"#
        );
        wat::parse_str(text).unwrap()
    }

    const TIGHT: Limits = Limits { time: Duration::from_mins(1), fuel: 1_000_000, memory: 1024 * 1024 };

    #[test]
    fn a_call_goes_on_over_many_slices_and_ends_when_its_steps_are_used() {
        let turns = |turns: u32| {
            module(&format!(
                r#"(func (export "handle") (param i32 i32) (result i64) (local $n i32)
                     (loop (local.set $n (i32.add (local.get $n) (i32.const 1)))
                           (br_if 0 (i32.lt_u (local.get $n) (i32.const {turns}))))
                     (i64.const 0))"#
            ))
        };
        let (said, fuel) = call(&turns(75_000), b"{}", None, TIGHT);
        assert_eq!(said.unwrap(), b"");
        assert!((SLICE..=TIGHT.fuel).contains(&fuel), "{fuel}: more than one slice");
        assert!(matches!(call(&turns(u32::MAX), b"{}", None, TIGHT).0, Err(Failure::Fuel(1_000_000))));
        let late = Limits { time: Duration::ZERO, ..TIGHT };
        assert!(matches!(call(&turns(1), b"{}", None, late).0, Err(Failure::Late(_))));
    }

    #[test]
    fn the_time_is_known_where_it_was_granted_and_memory_is_bounded() {
        let clock = module(
            r#"(import "tessera" "clock" (func $clock (result i64)))
               (func (export "handle") (param i32 i32) (result i64)
                 (if (i64.ne (call $clock) (i64.const 77)) (then unreachable)) (i64.const 0))"#,
        );
        assert!(call(&clock, b"{}", Some(77), TIGHT).0.is_ok());
        assert!(matches!(call(&clock, b"{}", None, TIGHT).0, Err(Failure::Start(_))));
        assert_eq!(examine(&clock).unwrap(), None);
        let grown = |pages: u32| {
            module(&format!(
                r#"(func (export "handle") (param i32 i32) (result i64)
                     (i64.extend_i32_s (i32.mul (i32.const 0) (memory.grow (i32.const {pages}))))
                     (if (i32.ne (memory.size) (i32.const {})) (then unreachable)))"#,
                pages + 2
            ))
        };
        assert!(call(&grown(14), b"{}", None, TIGHT).0.is_ok(), "sixteen pages are a megabyte");
        assert!(matches!(call(&grown(15), b"{}", None, TIGHT).0, Err(Failure::Stopped(_))));
        let large = wat::parse_str(r#"(module (memory (export "memory") 1000))"#).unwrap();
        assert!(matches!(call(&large, b"{}", None, TIGHT).0, Err(Failure::Start(_))));
    }

    #[test]
    fn a_message_longer_than_its_room_and_a_module_of_another_version_are_refused() {
        let nothing = module(r#"(func (export "handle") (param i32 i32) (result i64) (i64.const 0))"#);
        assert!(call(&nothing, &vec![b' '; 65536], None, TIGHT).0.is_ok());
        assert!(matches!(call(&nothing, &vec![b' '; 65537], None, TIGHT).0, Err(Failure::Answer(_))));
        let newer = wat::parse_str(
            r#"(module (memory (export "memory") 1) (func (export "tessera_abi") (result i32) (i32.const 2)))"#,
        );
        let said = call(&newer.unwrap(), b"{}", None, TIGHT).0.unwrap_err().to_string();
        assert!(said.contains("uses ABI 2"), "{said}");
        assert!(matches!(call(b"\0asm", b"{}", None, TIGHT).0, Err(Failure::Start(_))));
    }
}
