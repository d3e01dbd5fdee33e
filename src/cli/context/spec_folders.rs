//! The folders of specs that the configuration names, in their order, and their names in reports.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::folder_location::FolderLocation;
use crate::cli::context::git::program;
use crate::cli::context::machine::below;
use crate::cli::context::render_program::RenderProgram;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::config::setting::ProcessEnv;
use crate::config::settings::Config;
use crate::spec::tree::rendered::RenderedTree;
use crate::spec::tree::roots::SpecRoots;

/// The folders of specs: at least one, and none of them in another.
#[derive(Debug, Clone)]
pub(crate) struct SpecFolders {
    /// The folder of the configuration.
    root: PathBuf,
    paths: Vec<PathBuf>,
    /// The program that makes the tree of the folders.
    rendered: Option<Arc<RenderedTree>>,
}

impl SpecFolders {
    /// Reads the setting `specs`.
    ///
    /// # Errors
    /// A variable is unset or does not fit, or one folder lies in another one.
    pub(crate) fn of(config: &Config) -> CommandResult<Self> {
        let paths = config.specs.iter().map(|folder| folder.get(&ProcessEnv));
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        let folders = Self { root: config.dir.to_path_buf(), paths, rendered: None };
        let Some((inner, outer)) = folders.overlap() else { return Ok(folders) };
        let what = format!(
            "`specs` names {} and {}, and one holds the other: its documents would count twice",
            outer.display(),
            inner.display()
        );
        Err(CommandFailure::input("reckon::config::specs_overlap", what)
            .help("name each folder once, and no folder in another one"))
    }

    /// Adds the program of `render`, if the configuration has one. `refused` is the reason for which
    /// the configuration may not run a program.
    ///
    /// # Errors
    /// The configuration may not, or the program is in the repository of the specs.
    pub(crate) fn with_render(self, config: &Config, refused: Option<&str>) -> CommandResult<Self> {
        let words = config.render.iter().map(|word| word.get(&ProcessEnv));
        let words = words.collect::<Result<Vec<_>, _>>()?;
        let Some((name, arguments)) = words.split_first() else { return Ok(self) };
        let beside = name.contains('/');
        let program = if beside { self.root.join(name) } else { PathBuf::from(name) };
        let program =
            if beside { std::path::absolute(&program).unwrap_or(program) } else { program };
        let folder = program.canonicalize().unwrap_or_else(|_| program.clone());
        let inside = beside && folder.parent().is_some_and(|folder| self.share_work_tree(folder));
        let inside = inside.then_some("names a program in the repository of the specs");
        if let Some(why) = refused.or(inside) {
            let what = format!("`render` in {} is refused: the file {why}", config.file);
            return Err(CommandFailure::input("reckon::render::refused", what).help(
                "keep the configuration and the program outside that repository, where no pull \
                request changes them, and name the configuration with --config FILE",
            ));
        }
        let dir = self.first().to_owned();
        let program = RenderProgram::new(program, arguments.to_vec(), dir);
        let rendered = Some(Arc::new(RenderedTree::new(Box::new(program))));
        Ok(Self { rendered, ..self })
    }

    /// Refuses what a rendered tree cannot do yet.
    pub(crate) fn require_files(&self, what: &str, help: &str) -> CommandResult<()> {
        if self.rendered.is_none() {
            return Ok(());
        }
        let what = format!("{what} is not possible with `render`");
        Err(CommandFailure::input("reckon::render::unsupported", what).help(help))
    }

    fn overlap(&self) -> Option<(&Path, &Path)> {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| self.plain(path));
        let known: Vec<(&PathBuf, PathBuf)> =
            self.paths.iter().map(|path| (path, real(path))).collect();
        known.iter().enumerate().find_map(|(number, (outer, real))| {
            let others = known.iter().enumerate().filter(|(other, _)| *other != number);
            let inside = others.map(|(_, one)| one).find(|(_, inner)| inner.starts_with(real))?;
            Some((&**inside.0, &***outer))
        })
    }

    fn plain(&self, path: &Path) -> PathBuf {
        std::path::absolute(path).unwrap_or_else(|_| self.root.join(path))
    }

    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns the first folder: new documents go there.
    pub(crate) fn first(&self) -> &Path {
        self.paths.first().map_or(&self.root, |path| path)
    }

    fn place(&self, path: &Path) -> FolderLocation {
        FolderLocation::from_config(&self.root, path)
    }

    /// Returns the folders as one tree.
    pub(crate) fn roots(&self) -> SpecRoots {
        let places = self.paths.iter().map(|path| self.place(path));
        SpecRoots::named(self.names("").into_iter().zip(places)).rendered_by(self.rendered.clone())
    }

    /// Returns the same tree at other places, one for each folder; `before` precedes its names.
    pub(crate) fn roots_at(&self, places: &[PathBuf], before: &str) -> SpecRoots {
        let places = places.iter().map(FolderLocation::from);
        SpecRoots::named(self.names(before).into_iter().zip(places))
    }

    /// Returns the text before the paths of files in reports: the name of a single folder.
    pub(crate) fn prefix(&self, before: &str) -> String {
        match self.names(before).as_mut_slice() {
            [_] if self.rendered.is_some() => String::new(),
            [only] => std::mem::take(only),
            _ => String::new(),
        }
    }

    /// Returns the paths from the folder of the configuration, as reports name them.
    fn names(&self, before: &str) -> Vec<String> {
        let several = self.paths.len() > 1;
        let name = |path: &PathBuf| match below(&self.root, path).to_string_lossy() {
            name if several && name.is_empty() => format!("{before}."),
            name => format!("{before}{name}"),
        };
        self.paths.iter().map(name).collect()
    }

    /// Returns true if a path lies in one of the folders.
    pub(crate) fn contain(&self, path: &Path) -> bool {
        let path = below(&self.root, path);
        self.paths.iter().any(|folder| path.starts_with(below(&self.root, folder)))
    }

    /// Returns true if one of the folders lies below a path.
    pub(crate) fn lie_below(&self, path: &Path) -> bool {
        let path = below(&self.root, path);
        self.paths.iter().any(|folder| below(&self.root, folder).starts_with(&path))
    }

    /// Returns true if one folder differs from its commit; `None` without a commit of all.
    pub(crate) fn are_dirty(&self) -> Option<bool> {
        let dirty =
            |path: &PathBuf| self.place(path).open().ok().and_then(|_| program::is_dirty(path));
        let states: Option<Vec<bool>> = self.paths.iter().map(dirty).collect();
        states.map(|states| states.contains(&true))
    }

    /// Returns true if a place is in the same git work tree as one of the folders.
    pub(crate) fn share_work_tree(&self, place: &Path) -> bool {
        let tree = program::work_tree(place);
        tree.is_some() && self.paths.iter().any(|path| program::work_tree(path) == tree)
    }

    /// Checks that the folders can be opened, in one repository.
    ///
    /// # Errors
    /// A folder is missing or reached through a link, or the folders are in several repositories.
    pub(crate) fn check_one_repository(&self) -> CommandResult<()> {
        for path in &self.paths {
            self.place(path).open().map_err(|error| {
                let what = format!("open the folder of specs {}: {error}", path.display());
                CommandFailure::input("reckon::git::specs", what)
                    .help("put the folder itself there, or write its real path in `specs`")
            })?;
        }
        let first = program::work_tree(self.first());
        let other = self.paths.iter().find(|path| program::work_tree(path) != first);
        let Some(other) = other else { return Ok(()) };
        let what = format!(
            "the folders of specs {} and {} are in different repositories, so no revision names \
            the whole tree",
            self.first().display(),
            other.display()
        );
        Err(CommandFailure::input("reckon::git::specs", what)
            .help("keep the folders in one repository, or compare saved plans instead"))
    }
}

impl fmt::Display for SpecFolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, path) in self.paths.iter().enumerate() {
            let between = if number > 0 { ", " } else { "" };
            write!(f, "{between}{}", path.display())?;
        }
        Ok(())
    }
}
