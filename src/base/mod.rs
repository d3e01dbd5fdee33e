//! Words without I/O: ids, money, schedules, time, digests, card numbers and secrets.
