//! The tree of a YAML document.
//!
//! [`serde_yaml`] alone decides what a value is. A scalar keeps its text beside its value, because a
//! plain `+1555` is a number where a number is expected, and exactly this text where text is.

use serde::de::{
    self, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde_yaml::{Number, Value};

use super::problem::PathSegment;

/// One value of a document.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Scalar {
        value: Scalar,
        text: String,
    },
    Sequence(Vec<Node>),
    Mapping(Vec<(String, Node)>),
    /// The place of a reported value: it fits every type that it can.
    Hole,
}

#[derive(Debug, Clone)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text,
}

impl Node {
    /// Parses a document.
    ///
    /// # Errors
    /// The text is no YAML.
    pub(super) fn parse(yaml: &str) -> Result<Self, serde_yaml::Error> {
        let value: Value = serde_yaml::from_str(yaml)?;
        NodeSeed(&value).deserialize(serde_yaml::Deserializer::from_str(yaml))
    }

    fn child(&self, segment: &PathSegment) -> Option<&Self> {
        match (self, segment) {
            (Self::Mapping(entries), PathSegment::Field(name)) => {
                entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
            }
            (Self::Sequence(items), PathSegment::Item(place)) => items.get(*place),
            (
                Self::Scalar { .. } | Self::Sequence(_) | Self::Mapping(_) | Self::Hole,
                PathSegment::Field(_) | PathSegment::Item(_),
            ) => None,
        }
    }

    fn child_mut(&mut self, segment: &PathSegment) -> Option<&mut Self> {
        match (self, segment) {
            (Self::Mapping(entries), PathSegment::Field(name)) => {
                entries.iter_mut().find(|(key, _)| key == name).map(|(_, node)| node)
            }
            (Self::Sequence(items), PathSegment::Item(place)) => items.get_mut(*place),
            (
                Self::Scalar { .. } | Self::Sequence(_) | Self::Mapping(_) | Self::Hole,
                PathSegment::Field(_) | PathSegment::Item(_),
            ) => None,
        }
    }

    /// Returns the number of segments of a path that lead to an existing node.
    pub(super) fn depth_of(&self, path: &[PathSegment]) -> usize {
        let next = |node: &mut &'_ Self, segment: &PathSegment| {
            *node = node.child(segment)?;
            Some(())
        };
        path.iter().scan(self, next).count()
    }

    /// Returns the node of a path.
    pub(super) fn node_mut(&mut self, path: &[PathSegment]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, segment| node.child_mut(segment))
    }

    /// Returns whether a reported value is in the node.
    pub(super) fn has_hole(&self) -> bool {
        match self {
            Self::Hole => true,
            Self::Scalar { .. } => false,
            Self::Sequence(items) => items.iter().any(Self::has_hole),
            Self::Mapping(entries) => entries.iter().any(|(_, node)| node.has_hole()),
        }
    }
}

/// Reads a document a second time, with its known values as the guide, for the texts of scalars.
struct NodeSeed<'v>(&'v Value);

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        let scalar = match self.0 {
            Value::Null => Scalar::Null,
            Value::Bool(word) => Scalar::Bool(*word),
            Value::Number(number) => Scalar::Number(number.clone()),
            Value::String(_) => Scalar::Text,
            Value::Sequence(_) => return deserializer.deserialize_seq(self),
            Value::Mapping(_) => return deserializer.deserialize_map(self),
            Value::Tagged(_) => {
                return Err(D::Error::invalid_type(Unexpected::Enum, &"a value without a tag"));
            }
        };
        let text = <String as de::Deserialize>::deserialize(deserializer)?;
        Ok(Node::Scalar { value: scalar, text })
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        for value in self.0.as_sequence().into_iter().flatten() {
            match items.next_element_seed(NodeSeed(value))? {
                Some(node) => nodes.push(node),
                None => break,
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Node::Sequence(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        for (_, value) in self.0.as_mapping().into_iter().flatten() {
            match entries.next_key::<String>()? {
                Some(key) => nodes.push((key, entries.next_value_seed(NodeSeed(value))?)),
                None => break,
            }
        }
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Node::Mapping(nodes))
    }
}
