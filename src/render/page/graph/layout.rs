//! Places of the nodes and lines of a graph: needed resources left, those that need them right.
//!
//! A pure function of the edges: the same graph has the same drawing. Every node has a column by the
//! longest chain of needs below it, and no two nodes overlap. An edge that closes a circle is drawn
//! and moves nothing. A need that other needs imply gets no line, so that chains can be followed.

use std::collections::{BTreeMap, BTreeSet};

/// Width and height of a node, in pixels.
pub(super) const WIDTH: usize = 208;
pub(super) const HEIGHT: usize = 48;
/// Distances between columns and between rows.
const COLUMN_GAP: usize = 72;
const ROW_GAP: usize = 14;
/// Free space around the drawing; a focus ring fits.
const MARGIN: usize = 8;
/// Nodes above one another; further ones of the same depth get another column.
const ROWS_MAX: usize = 12;
/// Passes that move nodes beside their needs.
const PASSES: usize = 2;
/// Units of a place in a column, so that a mean of places is a whole number.
const SCALE: usize = 1000;

/// A node's upper left corner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NodePlace {
    pub(super) x: usize,
    pub(super) y: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GraphLayout {
    pub(super) places: Vec<NodePlace>,
    /// The edges to draw.
    pub(super) lines: Vec<(usize, usize)>,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Places `count` nodes; an edge is a needed node and one that needs it. Edges of other nodes are
/// ignored.
pub(super) fn layout(count: usize, edges: &[(usize, usize)]) -> GraphLayout {
    let mut needs = vec![Vec::new(); count];
    let edges: BTreeSet<&(usize, usize)> = edges.iter().collect();
    for (needed, user) in
        edges.into_iter().filter(|(needed, user)| *needed < count && needed != user)
    {
        if let Some(list) = needs.get_mut(*user) {
            list.push(*needed);
        }
    }
    let depths = depths(&needs);
    let lines = lines(&needs, &depths);
    let mut layers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, depth) in depths.into_iter().enumerate() {
        layers.entry(depth).or_default().push(node);
    }
    let mut layers: Vec<Vec<usize>> = layers.into_values().collect();
    for _ in 0..PASSES {
        align(&mut layers, &needs);
    }
    GraphLayout { lines, ..place(count, &layers) }
}

/// Returns the length of the longest chain of needs below each node.
fn depths(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut found = vec![None; needs.len()];
    let mut open = vec![false; needs.len()];
    (0..needs.len()).map(|node| depth(node, needs, &mut found, &mut open)).collect()
}

/// Returns the depth of a node. A need whose depth is being looked for closes a circle: it does not
/// count. The recursion is as deep as the longest chain.
fn depth(
    node: usize,
    needs: &[Vec<usize>],
    found: &mut [Option<usize>],
    open: &mut [bool],
) -> usize {
    if let Some(depth) = found.get(node).copied().flatten() {
        return depth;
    }
    set(open, node, true);
    let mut deepest = 0_usize;
    for needed in needs.get(node).into_iter().flatten() {
        if !open.get(*needed).copied().unwrap_or(true) {
            deepest = deepest.max(depth(*needed, needs, found, open).saturating_add(1));
        }
    }
    set(open, node, false);
    set(found, node, Some(deepest));
    deepest
}

/// Returns all edges but those that a chain of others implies. Edges of circles stay.
fn lines(needs: &[Vec<usize>], depths: &[usize]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|node| depths.get(*node));
    let mut below: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); needs.len()];
    let mut found = Vec::new();
    for user in order {
        let own = || needs.get(user).into_iter().flatten().copied();
        let lower = own().filter(|needed| depths.get(*needed) < depths.get(user));
        let sets = lower.clone().filter_map(|needed| below.get(needed));
        let implied: BTreeSet<usize> = sets.flatten().copied().collect();
        found.extend(own().filter(|needed| !implied.contains(needed)).map(|needed| (needed, user)));
        let all = implied.into_iter().chain(lower).collect();
        set(&mut below, user, all);
    }
    found.sort_unstable();
    found
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

/// Sorts each layer by the mean place of what its nodes need, so that few lines cross.
fn align(layers: &mut [Vec<usize>], needs: &[Vec<usize>]) {
    let mut row: BTreeMap<usize, usize> = BTreeMap::new();
    for layer in layers {
        let mean = |node: &usize| {
            let rows = needs.get(*node).into_iter().flatten().filter_map(|needed| row.get(needed));
            let (sum, count) = rows.fold((0_usize, 0_usize), |(sum, count), row| {
                (sum.saturating_add(*row), count.saturating_add(1))
            });
            sum.checked_div(count).unwrap_or(usize::MAX)
        };
        layer.sort_by_key(|node| (mean(node), *node));
        let unit = SCALE.checked_div(layer.len()).unwrap_or(SCALE).max(1);
        row.extend(layer.iter().zip(0_usize..).map(|(node, at)| (*node, at.saturating_mul(unit))));
    }
}

/// Gives each layer its columns, from left to right, each centred in the height of the drawing.
fn place(count: usize, layers: &[Vec<usize>]) -> GraphLayout {
    let columns: Vec<&[usize]> = layers.iter().flat_map(|layer| layer.chunks(ROWS_MAX)).collect();
    let rows = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    let height = extent(rows, HEIGHT, ROW_GAP);
    let mut places = vec![NodePlace::default(); count];
    for (column, at) in columns.iter().zip(0_usize..) {
        let x = offset(at, WIDTH, COLUMN_GAP);
        let top = half(height.saturating_sub(extent(column.len(), HEIGHT, ROW_GAP)));
        for (node, row) in column.iter().zip(0_usize..) {
            let y = offset(row, HEIGHT, ROW_GAP).saturating_add(top);
            set(&mut places, *node, NodePlace { x, y });
        }
    }
    let width = extent(columns.len(), WIDTH, COLUMN_GAP);
    GraphLayout { places, lines: Vec::new(), width, height }
}

/// Returns the begin of the box with this number in a row of boxes.
fn offset(at: usize, size: usize, gap: usize) -> usize {
    at.saturating_mul(size.saturating_add(gap)).saturating_add(MARGIN)
}

/// Returns the length of a row of boxes with its margins.
fn extent(count: usize, size: usize, gap: usize) -> usize {
    let boxes = count.saturating_mul(size.saturating_add(gap)).saturating_sub(gap);
    boxes.saturating_add(MARGIN.saturating_mul(2))
}

pub(super) fn half(length: usize) -> usize {
    length.checked_div(2).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

    use proptest::prelude::*;

    use super::*;

    fn columns(layout: &GraphLayout) -> Vec<usize> {
        layout.places.iter().map(|place| place.x / (WIDTH + COLUMN_GAP)).collect()
    }

    fn overlap(one: NodePlace, other: NodePlace) -> bool {
        one.x.abs_diff(other.x) < WIDTH && one.y.abs_diff(other.y) < HEIGHT
    }

    #[test]
    fn a_node_stands_right_of_all_that_it_needs() {
        let shown = layout(4, &[(0, 1), (1, 2), (0, 2), (2, 3), (0, 3)]);
        assert_eq!(columns(&shown), [0, 1, 2, 3]);
        assert_eq!(columns(&layout(3, &[(2, 0), (1, 0)])), [1, 0, 0]);
        assert_eq!(layout(0, &[]).places, []);
    }

    #[test]
    fn a_need_that_others_imply_gets_no_line() {
        let shown = layout(4, &[(0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 3)]);
        assert_eq!(shown.lines, [(0, 1), (1, 2), (2, 3)]);
        let circle = [(0, 1), (1, 2), (2, 0)];
        assert_eq!(layout(3, &circle).lines, circle);
        assert_eq!(layout(3, &[(0, 2), (1, 2), (0, 2)]).lines, [(0, 2), (1, 2)]);
    }

    #[test]
    fn nodes_stand_beside_what_they_need() {
        let shown = layout(6, &[(0, 5), (1, 4), (2, 3)]);
        let rows: Vec<usize> = shown.places.iter().map(|place| place.y).collect();
        assert_eq!((rows[5], rows[4], rows[3]), (rows[0], rows[1], rows[2]));
    }

    #[test]
    fn a_circle_ends_and_each_of_its_nodes_has_a_place() {
        assert!(is_sound(4, &[(0, 1), (1, 2), (2, 0), (3, 3), (0, 99)]));
    }

    #[test]
    fn a_layer_with_many_nodes_gets_several_columns() {
        let edges: Vec<(usize, usize)> = (1..30).map(|user| (0, user)).collect();
        let shown = layout(30, &edges);
        assert_eq!(columns(&shown).iter().max(), Some(&3));
        assert!(shown.height < 800, "{}", shown.height);
    }

    /// Returns true if a drawing is the same when drawn again, and its nodes are inside its frame
    /// without an overlap.
    fn is_sound(count: usize, edges: &[(usize, usize)]) -> bool {
        let shown = layout(count, edges);
        let is_inside =
            |one: &NodePlace| one.x + WIDTH <= shown.width && one.y + HEIGHT <= shown.height;
        let is_alone = |at: usize, one: &NodePlace| {
            shown.places[at + 1..].iter().all(|other| !overlap(*one, *other))
        };
        let mut places = shown.places.iter().enumerate();
        shown == layout(count, edges) && places.all(|(at, one)| is_inside(one) && is_alone(at, one))
    }

    proptest! {
        #[test]
        fn no_graph_has_an_overlap(count in 0_usize..40, edges in prop::collection::vec((0_usize..40, 0_usize..40), 0..120)) {
            prop_assert!(is_sound(count, &edges));
        }
    }
}
