//! A tree that a program prints: one stream of documents in the place of files.
//!
//! Guarantees: the program runs once for each reading of the tree. If it fails, its last output stays
//! in use, with a problem, so that nothing is pruned.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::base::folder::Stat;
use crate::spec::tree::files::{SourceProblem, WalkEntry};

/// The name of the output in problems and places.
pub const OUTPUT: &str = "rendered output";

/// A program that prints the tree.
pub trait TreeRenderer: fmt::Debug + Send + Sync {
    /// Runs the program and returns its output.
    ///
    /// # Errors
    /// The program failed, as a problem at [`OUTPUT`].
    fn render(&self) -> Result<Vec<u8>, SourceProblem>;
}

/// An output that another process received from its program. `Debug` shows its size alone.
#[derive(derive_more::Debug)]
#[debug("RenderedText({} bytes)", _0.len())]
pub struct RenderedText(pub String);

impl TreeRenderer for RenderedText {
    fn render(&self) -> Result<Vec<u8>, SourceProblem> {
        Ok(self.0.clone().into_bytes())
    }
}

#[derive(Debug)]
pub struct RenderedTree {
    renderer: Box<dyn TreeRenderer>,
    output: Mutex<RenderOutput>,
}

/// The last output, and the problem of the last run.
#[derive(Debug, Default)]
struct RenderOutput {
    text: Option<Arc<[u8]>>,
    problem: Option<SourceProblem>,
    /// True once the program ran.
    ran: bool,
    /// True if no reading of the tree used the last run yet.
    unused: bool,
}

impl RenderedTree {
    pub fn new(renderer: Box<dyn TreeRenderer>) -> Self {
        Self { renderer, output: Mutex::default() }
    }

    /// Begins a reading of the tree: runs the program, unless its last run is still unused.
    pub(crate) fn begin_reading(&self) {
        let mut output = self.output.lock();
        if !output.unused {
            output.run(&*self.renderer);
        }
        output.unused = false;
    }

    /// Visits the output and the problem of the last run.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(WalkEntry<'_>)) {
        let (text, problem) = self.last();
        if let Some(text) = text {
            visit(WalkEntry::File(OUTPUT, stat_of(&text)));
        }
        if let Some(problem) = problem {
            visit(WalkEntry::Problem(problem));
        }
    }

    /// Returns the last output.
    pub(crate) fn text(&self) -> Option<Arc<[u8]>> {
        self.last().0
    }

    fn last(&self) -> (Option<Arc<[u8]>>, Option<SourceProblem>) {
        let mut output = self.output.lock();
        if !output.ran {
            output.run(&*self.renderer);
        }
        (output.text.clone(), output.problem.clone())
    }
}

impl RenderOutput {
    fn run(&mut self, renderer: &dyn TreeRenderer) {
        (self.ran, self.unused) = (true, true);
        match renderer.render() {
            Ok(text) => (self.text, self.problem) = (Some(text.into()), None),
            Err(problem) => self.problem = Some(problem),
        }
    }
}

/// Returns metadata that differ where the text does. The time is before every real one.
fn stat_of(text: &[u8]) -> Stat {
    let hash = blake3::hash(text);
    let part = |at: usize| {
        let bytes = hash.as_bytes().get(at..).and_then(|rest| rest.first_chunk::<8>());
        u64::from_le_bytes(bytes.copied().unwrap_or_default())
    };
    let time = i64::try_from(part(0).wrapping_shr(1)).unwrap_or_default();
    let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    Stat { size, mtime_ns: time.saturating_neg(), inode: part(8) }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::model::manifest::TreeState;
    use crate::spec::testing::{cx, document};
    use crate::spec::tree::loader::Loader;
    use crate::spec::tree::roots::SpecRoots;

    #[derive(Debug)]
    struct Outputs(Mutex<VecDeque<Option<String>>>);

    impl TreeRenderer for Outputs {
        fn render(&self) -> Result<Vec<u8>, SourceProblem> {
            let next = self.0.lock().pop_front().expect("one run for each reading");
            let failed = || SourceProblem::new(OUTPUT, "reckon::render::failed", "exit 3", "x");
            next.map(String::into_bytes).ok_or_else(failed)
        }
    }

    #[test]
    fn the_last_good_output_stays_in_use_and_problems_name_document_and_line() {
        let good = document("Merchant", "a", "first_name: x");
        let bad = format!("{good}---\n{}", document("Contact", "jane", "first_nmae: x"));
        let outputs = [Some(good), None, Some(bad)];
        let program = Outputs(Mutex::new(outputs.into_iter().collect()));
        let rendered = Arc::new(RenderedTree::new(Box::new(program)));
        let roots = SpecRoots::from("/nowhere").rendered_by(Some(rendered));
        assert_eq!(roots.list("").files.len(), 1, "the first reading uses this run");
        let mut loader = Loader::new(roots, "", cx());
        loader.load_all();
        let state =
            |loader: &Loader| (loader.desired().manifests.len(), loader.desired().tree_state);
        assert_eq!(state(&loader), (1, TreeState::Complete));
        loader.reload(&["base/a.yaml".into(), "base/b.yaml".into()]);
        assert_eq!(state(&loader), (1, TreeState::Incomplete));
        assert_eq!(loader.problems().shown[0].code, "reckon::render::failed");
        loader.load_all();
        assert_eq!(state(&loader), (1, TreeState::Incomplete));
        let problems = loader.problems().shown;
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!((problem.file.as_str(), problem.line), (OUTPUT, 3));
        assert!(problem.message.starts_with("document Contact/jane: "), "{}", problem.message);
        assert_eq!(loader.sources(&problems).len(), 1, "there is a snippet");
    }
}
