//! Disks of the simulated machine, which refuse writes for a while, and its power, which fails at a
//! chosen point.
//!
//! Every place at which a process can die passes [`MachinePower::pass`], so that each is counted and
//! any of them can be the last.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::api::call::Call;
use crate::client::transport::{Wire, WireDecision};
use crate::sim::plan::chance::{
    Crash, CrashPoint, CrashSide, Death, READ, SEND_POINT, effect_of_call, refine_effect,
};
use crate::sim::plan::dice::Dice;
use crate::sim::plan::parts::add;
use crate::sim::plan::trouble::DiskRefusal;
use crate::store::disk::traits::{Disk, missing, to_u64, to_usize};

/// Smallest unit that a disk writes as a whole, in bytes.
const SECTOR_BYTES: usize = 512;

/// Disk that fails with the power; clones share it.
#[derive(Debug, Clone)]
pub struct SimDisk {
    places: DiskCrashPoints,
    power: MachinePower,
    capacity: DiskCapacity,
    files: Arc<Mutex<BTreeMap<String, DiskFile>>>,
}

#[derive(Debug, Clone, Copy)]
pub struct DiskCrashPoints {
    pub write: &'static str,
    pub sync: &'static str,
    /// A file is cut, removed, replaced or allocated.
    pub change: &'static str,
}

/// A file, with its visible bytes and the bytes that a power failure leaves.
#[derive(Debug, Clone, Default)]
struct DiskFile {
    visible: Vec<u8>,
    /// `None` while not even the name of the file is durable.
    durable: Option<Vec<u8>>,
    unsynced: Vec<(usize, Vec<u8>)>,
}

impl DiskFile {
    fn mark_durable(&mut self) {
        self.durable = Some(self.visible.clone());
        self.unsynced.clear();
    }
}

impl SimDisk {
    pub(crate) fn new(places: DiskCrashPoints, power: MachinePower, room: DiskCapacity) -> Self {
        Self { places, power, capacity: room, files: Arc::default() }
    }

    /// Calls `look` with the bytes of each file that a power failure would certainly leave now.
    pub fn each_durable(&self, mut look: impl FnMut(&str, &[u8])) {
        for (name, file) in self.files.lock().iter() {
            if let Some(durable) = &file.durable {
                look(name, durable);
            }
        }
    }

    pub(crate) fn reboot(&self, death: Death, dice: &mut Dice) {
        let mut files = self.files.lock();
        for file in files.values_mut() {
            match death {
                Death::Process => file.mark_durable(),
                Death::Power => lose_unsynced(file, dice),
            }
        }
        files.retain(|_, file| file.durable.is_some());
    }

    pub(crate) fn swap(&self, files: BTreeMap<String, Vec<u8>>) {
        let settled = files.into_iter().map(|(name, visible)| {
            let durable = Some(visible.clone());
            (name, DiskFile { visible, durable, unsynced: Vec::new() })
        });
        *self.files.lock() = settled.collect();
    }

    /// Changes the disk, unless the machine is dead or dies before or after the change.
    fn change<T>(
        &self,
        place: &'static str,
        act: impl FnOnce(&mut BTreeMap<String, DiskFile>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.pass_point(CrashSide::Before, place)?;
        let done = act(&mut self.files.lock())?;
        self.pass_point(CrashSide::After, place)?;
        Ok(done)
    }

    fn pass_point(&self, when: CrashSide, place: &'static str) -> io::Result<()> {
        let lives = self.power.pass(CrashPoint { when, place, effect: "" });
        if lives { Ok(()) } else { Err(dead()) }
    }

    fn read_file<T>(&self, name: &str, look: impl FnOnce(&DiskFile) -> T) -> io::Result<T> {
        if self.power.is_dead() {
            return Err(dead());
        }
        self.files.lock().get(name).map(look).ok_or_else(|| missing(name))
    }
}

/// Keeps the part of a file that survives a power failure.
fn lose_unsynced(file: &mut DiskFile, dice: &mut Dice) {
    let unsynced = std::mem::take(&mut file.unsynced);
    let mut kept: Vec<(usize, &[u8])> =
        unsynced.iter().flat_map(|(offset, bytes)| by_sector(*offset, bytes)).collect();
    let manner = dice.below(4);
    let prefix = dice.index(kept.len().saturating_add(1));
    match manner {
        0 => kept.clear(),
        1 => {}
        2 => kept.truncate(prefix),
        _ => kept.retain(|_| dice.percent(50)),
    }
    if file.durable.is_none() && kept.is_empty() {
        return;
    }
    let durable = file.durable.get_or_insert_default();
    for (offset, bytes) in kept {
        write_bytes(durable, offset, bytes);
    }
    file.visible.clone_from(durable);
}

fn by_sector(mut offset: usize, mut bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let within = offset.checked_rem(SECTOR_BYTES).unwrap_or(0);
        let room = SECTOR_BYTES.saturating_sub(within).min(bytes.len());
        let (piece, rest) = bytes.split_at(room);
        pieces.push((offset, piece));
        offset = offset.saturating_add(room);
        bytes = rest;
    }
    pieces
}

/// Writes bytes into a file, and fills a gap before them with zeros.
fn write_bytes(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset.saturating_add(bytes.len());
    if file.len() < end {
        file.resize(end, 0);
    }
    if let Some(place) = file.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
}

fn dead() -> io::Error {
    io::Error::other("the simulated machine is dead")
}

impl Disk for SimDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        if self.power.is_dead() {
            return Err(dead());
        }
        Ok(self.files.lock().keys().cloned().collect())
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        self.read_file(name, |file| to_u64(file.visible.len()))
    }

    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let start = to_usize(offset);
        self.read_file(name, |file| {
            let end = start.saturating_add(len).min(file.visible.len());
            file.visible.get(start..end).unwrap_or_default().to_vec()
        })
    }

    fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let room = self.capacity.check_write(true);
        self.change(self.places.write, |files| {
            let file = files.entry(name.to_owned()).or_default();
            let fits = if room.is_ok() { bytes.len() } else { bytes.len().div_euclid(2) };
            let bytes = bytes.get(..fits).unwrap_or_default();
            write_bytes(&mut file.visible, to_usize(offset), bytes);
            file.unsynced.push((to_usize(offset), bytes.to_vec()));
            room
        })
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.capacity.check_write(false)?;
        self.change(self.places.sync, |files| {
            files.get_mut(name).map(DiskFile::mark_durable).ok_or_else(|| missing(name))
        })
    }

    fn cut(&self, name: &str, len: u64) -> io::Result<()> {
        self.capacity.check_write(false)?;
        self.change(self.places.change, |files| {
            let file = files.get_mut(name).ok_or_else(|| missing(name))?;
            file.visible.truncate(to_usize(len));
            file.mark_durable();
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.capacity.check_write(false)?;
        self.change(self.places.change, |files| {
            files.remove(name).map(drop).ok_or_else(|| missing(name))
        })
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.capacity.check_write(true)?;
        self.change(self.places.change, |files| {
            let file = files.entry(name.to_owned()).or_default();
            bytes.clone_into(&mut file.visible);
            file.mark_durable();
            Ok(())
        })
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        self.capacity.check_write(false)?;
        self.change(self.places.change, |files| {
            let file = files.remove(name).ok_or_else(|| missing(name))?;
            files.insert(to.to_owned(), file);
            Ok(())
        })
    }

    fn allocate(&self, name: &str, len: u64) -> io::Result<()> {
        self.capacity.check_write(true)?;
        self.change(self.places.change, |files| {
            let file = files.entry(name.to_owned()).or_default();
            for bytes in [&mut file.visible, file.durable.get_or_insert_default()] {
                bytes.resize(bytes.len().max(to_usize(len)), 0);
            }
            Ok(())
        })
    }
}

/// The wire, which ends where the machine dies.
#[derive(Debug, Clone)]
pub struct CrashWire(pub MachinePower);

impl CrashWire {
    fn decide(&self, when: CrashSide, call: &Call) -> WireDecision {
        let body = call.body.as_deref().unwrap_or_default();
        let effect = effect_of_call(call.method.as_str(), &call.path, body);
        let effect = refine_effect(effect, body).unwrap_or(READ);
        let lives = self.0.pass(CrashPoint { when, place: SEND_POINT, effect });
        if lives { WireDecision::Pass } else { WireDecision::Crash }
    }
}

impl Wire for CrashWire {
    fn before(&self, call: &Call) -> WireDecision {
        self.decide(CrashSide::Before, call)
    }

    fn after(&self, call: &Call) -> WireDecision {
        self.decide(CrashSide::After, call)
    }
}

#[derive(Debug, Clone, Default)]
pub struct MachinePower {
    state: Arc<Mutex<PowerState>>,
    failed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct PowerState {
    dead: bool,
    planned: Vec<Crash>,
    fatal_crash: Option<Crash>,
    passed: BTreeMap<CrashPoint, u32>,
}

impl MachinePower {
    /// Switches the machine on; the first of these crashes that is reached kills it.
    pub fn switch_on(&self, planned: Vec<Crash>) {
        *self.state.lock() = PowerState { planned, ..PowerState::default() };
    }

    pub fn clear_plan(&self) {
        self.state.lock().planned.clear();
    }

    pub fn fatal_crash(&self) -> Option<Crash> {
        self.state.lock().fatal_crash
    }

    pub fn is_dead(&self) -> bool {
        self.state.lock().dead
    }

    /// Passes a point. Returns false if the machine is dead or dies at the point.
    pub fn pass(&self, point: CrashPoint) -> bool {
        let mut state = self.state.lock();
        if state.dead {
            return false;
        }
        let passed = add(&mut state.passed, point, 1);
        let due = |crash: &&Crash| crash.point == point && crash.nth <= passed;
        state.fatal_crash = state.planned.iter().find(due).copied();
        state.dead = state.fatal_crash.is_some();
        let lives = !state.dead;
        drop(state);
        if !lives {
            self.failed.notify_one();
        }
        lives
    }

    pub async fn wait_until_dead(&self) {
        while !self.is_dead() {
            self.failed.notified().await;
        }
    }
}

/// Free space of all disks of a machine; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct DiskCapacity(Arc<Mutex<CapacityState>>);

#[derive(Debug, Default)]
struct CapacityState {
    refusal: Option<(DiskRefusal, Instant)>,
    was_refused: bool,
}

impl DiskCapacity {
    /// Lets the disks refuse operations for `time` from now on.
    pub(crate) fn refuse(&self, refusal: DiskRefusal, time: Duration) {
        let until = Instant::now().checked_add(time);
        self.0.lock().refusal = until.map(|until| (refusal, until));
    }

    pub(crate) fn clear(&self) {
        self.0.lock().refusal = None;
    }

    /// Returns true if an operation was refused since the last call.
    pub(crate) fn take_refused(&self) -> bool {
        std::mem::take(&mut self.0.lock().was_refused)
    }

    /// Asks for an operation that writes, and grows a file if `grows` is set.
    pub(crate) fn check_write(&self, grows: bool) -> io::Result<()> {
        let mut state = self.0.lock();
        let now = Instant::now();
        let kind = match state.refusal.filter(|(_, until)| now < *until) {
            Some((DiskRefusal::Full, _)) if grows => io::ErrorKind::StorageFull,
            Some((DiskRefusal::ReadOnly, _)) => io::ErrorKind::ReadOnlyFilesystem,
            Some((DiskRefusal::Full, _)) | None => return Ok(()),
        };
        state.was_refused = true;
        Err(kind.into())
    }
}

#[cfg(test)]
mod tests;
