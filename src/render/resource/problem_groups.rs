//! Groups resources with the same problem: a failure of the service or of a merchant strikes many at once.

use crate::engine::protocol::views::ResourceView;
use crate::render::resource::resource_list::by_name;

/// Resources of a group that are named, at most; one more is named rather than counted.
const NAMED_MAX: usize = 3;

/// Groups resources by reason and sentence, in the order of the first of each group. A group is in
/// natural order.
pub(in crate::render) fn by_problem(items: &[ResourceView]) -> Vec<Vec<&ResourceView>> {
    let mut groups: Vec<Vec<&ResourceView>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| group.first().is_some_and(|one| is_alike(one, item))) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    for group in &mut groups {
        group.sort_by(|one, other| by_name(one, other));
    }
    groups
}

fn is_alike(one: &ResourceView, other: &ResourceView) -> bool {
    (one.standing, &one.reason, &one.message) == (other.standing, &other.reason, &other.message)
}

/// Returns the resources of a group that are named.
pub(in crate::render) fn shown_of<'g, 'v>(group: &'g [&'v ResourceView]) -> &'g [&'v ResourceView] {
    match group.len() {
        count if count <= NAMED_MAX.saturating_add(1) => group,
        _ => group.get(..NAMED_MAX).unwrap_or(group),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, message: &str) -> ResourceView {
        let item = serde_json::json!({"kind": "Invoice", "namespace": "default", "name": name,
            "ready": false, "standing": "waiting", "reason": "WaitsFor", "message": message,
            "verdict": "wait"});
        serde_json::from_value(item).unwrap()
    }

    #[test]
    fn resources_with_the_same_problem_are_one_group_in_natural_order() {
        let items = [item("a-10", "x"), item("b", "y"), item("a-9", "x"), item("a-1", "x")];
        let groups = by_problem(&items);
        let names: Vec<Vec<&str>> = groups
            .iter()
            .map(|group| group.iter().map(|item| item.name.as_str()).collect())
            .collect();
        assert_eq!(names, [vec!["a-1", "a-9", "a-10"], vec!["b"]]);
    }

    #[test]
    fn a_group_of_four_is_named_whole_and_of_a_larger_one_three() {
        let items: Vec<_> = (0..5).map(|at| item(&at.to_string(), "x")).collect();
        let groups = by_problem(&items);
        assert_eq!(shown_of(&groups[0][..4]).len(), 4);
        assert_eq!(shown_of(&groups[0]).len(), 3);
    }
}
