//! Work on many items in several threads, with the results in the order of the items.

use std::panic::resume_unwind;
use std::thread;

/// Fewer items than this are not worth a thread.
const ITEMS_PER_THREAD_MIN: usize = 128;

/// Calls `one` for each item, in threads where there are many; the results have their order.
pub fn map_in_order<T: Sync, R: Send>(items: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_in_threads(items, items.len().div_ceil(ITEMS_PER_THREAD_MIN), one)
}

/// As [`map_in_order`], for items each of which is worth a thread.
pub fn map_each<T: Sync, R: Send>(items: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_in_threads(items, items.len(), one)
}

fn map_in_threads<T: Sync, R: Send>(
    items: &[T],
    threads_max: usize,
    one: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(threads_max).max(1);
    if threads == 1 {
        return items.iter().map(one).collect();
    }
    let one = &one;
    thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(threads));
        let share = |part: &[T]| part.iter().map(one).collect::<Vec<R>>();
        let running: Vec<_> = parts.map(|part| scope.spawn(move || share(part))).collect();
        let ended =
            running.into_iter().map(|one| one.join().unwrap_or_else(|why| resume_unwind(why)));
        ended.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_in_the_order_of_the_items() {
        for count in [0, 1, ITEMS_PER_THREAD_MIN, 5 * ITEMS_PER_THREAD_MIN + 3] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(map_in_order(&items, |item| *item), items, "{count}");
        }
    }
}
