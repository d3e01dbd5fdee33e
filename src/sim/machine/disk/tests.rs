use crate::sim::machine::disk::*;
use crate::sim::plan::chance::Crash;

const PLACES: DiskCrashPoints = DiskCrashPoints { write: "write", sync: "sync", change: "change" };

fn disk() -> (SimDisk, MachinePower) {
    let power = MachinePower::default();
    power.switch_on(Vec::new());
    (SimDisk::new(PLACES, power.clone(), DiskCapacity::default()), power)
}

fn crash(when: CrashSide, place: &'static str, nth: u32) -> Crash {
    let point = CrashPoint { when, place, effect: "" };
    Crash { point, nth, death: Death::Power, down_s: 0 }
}

#[test]
fn what_was_synced_survives_every_power_failure() {
    for seed in 0..50 {
        let (disk, _) = disk();
        disk.write_at("f", 0, &[1; 700]).unwrap();
        disk.sync("f").unwrap();
        disk.write_at("f", 700, &[2; 900]).unwrap();
        disk.reboot(Death::Power, &mut Dice::new(seed, 1));
        assert_eq!(disk.read_at("f", 0, 700).unwrap(), [1; 700]);
    }
}

#[test]
fn unsynced_sectors_are_kept_lost_and_torn() {
    let after = |seed| {
        let (disk, _) = disk();
        disk.allocate("f", 2048).unwrap();
        disk.write_at("f", 0, &[2; 2048]).unwrap();
        disk.reboot(Death::Power, &mut Dice::new(seed, 1));
        let bytes = disk.read_at("f", 0, 2048).unwrap();
        bytes
            .chunks(SECTOR_BYTES)
            .map(|sector| sector.iter().all(|byte| *byte == 2))
            .collect::<Vec<_>>()
    };
    let seen: std::collections::BTreeSet<_> = (0..200).map(after).collect();
    assert!(seen.contains(&vec![false; 4]) && seen.contains(&vec![true; 4]));
    assert!(seen.contains(&vec![true, true, false, false]), "a prefix");
    assert!(seen.contains(&vec![false, true, false, true]), "reordered");
}

#[test]
fn a_file_without_a_sync_may_lose_its_name() {
    let left = |seed| {
        let (disk, _) = disk();
        disk.write_at("f", 0, b"x").unwrap();
        disk.reboot(Death::Power, &mut Dice::new(seed, 1));
        disk.list().unwrap().len()
    };
    let left: std::collections::BTreeSet<usize> = (0..50).map(left).collect();
    assert_eq!(left, [0, 1].into());
}

#[test]
fn a_process_that_dies_loses_nothing_it_wrote() {
    let (disk, _) = disk();
    disk.write_at("f", 0, b"x").unwrap();
    disk.reboot(Death::Process, &mut Dice::new(1, 1));
    assert_eq!(disk.read_at("f", 0, 9).unwrap(), b"x");
}

#[test]
fn a_dead_machine_does_nothing_until_it_is_switched_on() {
    let (disk, power) = disk();
    power.switch_on(vec![crash(CrashSide::After, "write", 2)]);
    disk.write_at("f", 0, b"x").unwrap();
    disk.write_at("f", 1, b"y").unwrap_err();
    assert!(power.is_dead());
    disk.read_at("f", 0, 1).unwrap_err();
    disk.sync("f").unwrap_err();
    power.switch_on(Vec::new());
    disk.reboot(Death::Process, &mut Dice::new(1, 1));
    assert_eq!(disk.read_at("f", 0, 9).unwrap(), b"xy");
}

#[test]
fn a_crash_before_a_sync_comes_before_it() {
    let (disk, power) = disk();
    disk.write_at("f", 0, b"x").unwrap();
    power.switch_on(vec![crash(CrashSide::Before, "sync", 1)]);
    disk.sync("f").unwrap_err();
    disk.each_durable(|name, _| panic!("{name} is durable"));
}
