//! Files as they were read, for a comparison with their content in a commit.

use std::ops::Bound;

use super::loader::Loader;
use super::problems::FileTexts;
use crate::base::id::Key;
use crate::model::issue::Path;

impl Loader {
    /// Returns the path of a file below the root, by its name in reports; `None` where the tree has
    /// no such file.
    pub fn path_of_file(&self, name: &str) -> Option<&str> {
        self.files.get_key_value(self.path_of(name)?).map(|(path, _)| &**path)
    }

    /// Returns the files from this path on, each with the hash of its content as it was read.
    pub fn content_hashes<'l>(
        &'l self,
        from: &'l str,
    ) -> impl Iterator<Item = (&'l str, [u8; 32])> {
        let files = self.files.range::<str, _>((Bound::Included(from), Bound::Unbounded));
        files.map(|(path, file)| (&**path, file.hash))
    }

    /// Returns the first and last line of each of these fields below `spec` in a resource's
    /// document. For a missing field, they are those of the part around it. Empty where the file
    /// changed since it was loaded.
    pub fn field_lines(&self, key: &Key, fields: &[&str]) -> Vec<(usize, usize)> {
        let Some((spot, _)) = self.documents_of(key).next() else { return Vec::new() };
        let paths: Vec<Path> =
            fields.iter().map(|field| Path::parse(&format!("spec.{field}"))).collect();
        let lines = FileTexts::new(self)
            .with_placed(spot, |placed| paths.iter().map(|path| placed.lines(path)).collect());
        lines.unwrap_or_default()
    }
}
