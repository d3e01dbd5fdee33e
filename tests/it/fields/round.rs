//! Runs a whole table in one world: applies everything, edits everything, applies everything again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::fields::case::{Case, Does, Table};
use crate::support::world::{World, told};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::engine::protocol::views::StepView;
use reckon::model::change::PlannedAction;
use reckon::sandbox::options::ServiceSurface;

/// 4 a.m. in Chicago.
const START: &str = "2029-12-01T10:00:00Z";

/// The service's lists of objects.
const LISTS: [&str; 6] =
    ["contacts", "invoices", "cards", "banks", "recurring_charges", "applications"];

/// Applies a table, edits it, and returns every deviation from the table. `prepare` fills the world first, and returns
/// the values for `$NAME` in the table's texts.
pub(crate) async fn faults(
    table: &Table,
    prepare: impl AsyncFn(&mut World) -> BTreeMap<&'static str, String>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let found = faults_on(surface, table, &prepare).await;
        faults.extend(found.into_iter().map(|fault| format!("{surface:?}: {fault}")));
    }
    faults
}

async fn faults_on(
    surface: ServiceSurface,
    table: &Table,
    prepare: &impl AsyncFn(&mut World) -> BTreeMap<&'static str, String>,
) -> Vec<String> {
    let mut world = World::new(surface, START);
    let names = prepare(&mut world).await;
    let write = |world: &World, is_edited: &dyn Fn(&Case) -> bool| {
        let mut text = table.tree(is_edited);
        for (name, value) in &names {
            text = text.replace(name, value);
        }
        world.write(&text);
    };
    write(&world, &|_| false);
    world.settle().await;
    assert_eq!(decided(&world).await, Vec::<String>::new(), "the table's first values");
    assert_eq!(looked(&world, "first").await, Vec::<String>::new());
    let before = Held::of(&world);
    write(&world, &|_| true);
    let mut faults = planned(table, &world, "edited");
    world.settle().await;
    faults.extend(planned_after(table, &world));
    faults.extend(looked(&world, "edited").await);
    faults.extend(before.compared(table, &Held::of(&world)));
    write(&world, &|case| !case.does.stays());
    let rest = world.settle().await;
    faults.extend(rest.into_iter().map(|step| format!("not empty at the end: {step}")));
    faults
}

/// Returns the steps that a complete resync adds to the plan: none, since only reckon changed anything.
async fn looked(world: &World, when: &str) -> Vec<String> {
    let before = world.plan();
    let mut engine = world.engine();
    engine.sweep_everything().await.unwrap();
    let news = told(&engine).into_iter().filter(|step| !before.contains(step));
    news.map(|step| format!("{when}: a resync finds {step}")).collect()
}

/// Returns the plan after underwriting has decided the applications.
async fn decided(world: &World) -> Vec<String> {
    world.control("POST", "clock", &json!({"advance": "PT6S"}));
    world
        .while_running(async |daemon| {
            daemon.deliver().await;
        })
        .await
}

/// Returns the deviations of the plan from the table, by document.
fn planned(table: &Table, world: &World, when: &str) -> Vec<String> {
    let view = world.engine().view().plan_view();
    let broken = view.problems.iter().map(|problem| format!("{when}: {problem:?}"));
    let mut faults: Vec<String> = broken.collect();
    for (at, case) in table.cases.iter().enumerate() {
        let name = table.name(at);
        let step = view.steps.iter().find(|step| step.kind == table.kind && step.name == name);
        let fault = step_fault(case, step);
        faults.extend(fault.map(|fault| format!("{when}: {}.{}: {fault}", table.kind, case.path)));
    }
    faults
}

/// Does the same after everything was applied: only impossible changes are left.
fn planned_after(table: &Table, world: &World) -> Vec<String> {
    let view = world.engine().view().plan_view();
    let mut faults = Vec::new();
    for (at, case) in table.cases.iter().enumerate() {
        let name = table.name(at);
        let step = view.steps.iter().find(|step| step.kind == table.kind && step.name == name);
        let fault = if case.does.stays() {
            step_fault(case, step)
        } else {
            step.map(|step| format!("{:?} {} ({})", step.verdict, step.reason, step.message))
        };
        faults.extend(fault.map(|fault| format!("applied: {}.{}: {fault}", table.kind, case.path)));
    }
    faults
}

/// Returns the deviation of an edited document's step, if any.
fn step_fault(case: &Case, step: Option<&StepView>) -> Option<String> {
    let expect = match case.does {
        Does::Local | Does::Fixed => None,
        Does::InPlace => Some((PlannedAction::Update, "Changed")),
        Does::ByToken => Some((PlannedAction::Update, "Renewed")),
        Does::Never => Some((PlannedAction::Blocked, "CannotChange")),
        Does::Unfit => Some((PlannedAction::Blocked, "Unfit")),
    };
    let found = step.map(|step| (step.verdict, step.reason.as_str()));
    if found != expect {
        return Some(format!(
            "{expect:?} expected, and the plan has {found:?} {}",
            step.map_or("", |step| step.message.as_str())
        ));
    }
    let step = step?;
    let shown: Vec<&str> = step.changes.iter().map(|change| change.path.as_str()).collect();
    let strange = shown.iter().any(|path| !case.touches(path));
    if strange || !shown.iter().any(|path| case.is_at(path)) {
        return Some(format!("the plan shows {shown:?}"));
    }
    if step.stuck != case.does.stays() {
        return Some(format!("exit code 3: {}", step.stuck));
    }
    let named = step.message.contains(&case.path.replace("[]", "[0]"));
    (case.does.stays() && !named).then(|| format!("the message names no field: {}", step.message))
}

/// Objects at the service by id, and the id of each document's object.
struct Held {
    objects: BTreeMap<String, Value>,
    ids: BTreeMap<String, String>,
}

impl Held {
    fn of(world: &World) -> Self {
        let lists = LISTS.iter().flat_map(|list| world.objects(list));
        let objects = lists.map(|mut object| {
            object.as_object_mut().unwrap().shift_remove("modified");
            (object["id"].to_string(), object)
        });
        let Ok(Reply::Resources(all)) =
            world.engine().answer(EngineQuery::Resources(Box::default()))
        else {
            panic!("unexpected response");
        };
        let ids = all.items.into_iter().filter_map(|one| {
            Some((format!("{}/{}", one.kind, one.name), json!(one.remote_id?).to_string()))
        });
        Self { objects: objects.collect(), ids: ids.collect() }
    }

    /// Returns objects that changed and should not have, and objects that should have changed and did not.
    fn compared(&self, table: &Table, after: &Self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.ids != after.ids || !self.objects.keys().eq(after.objects.keys()) {
            faults.push("objects were created, replaced or removed".to_owned());
        }
        for (at, case) in table.cases.iter().enumerate() {
            let id = self.ids.get(&format!("{}/{}", table.kind, table.name(at)));
            let (old, new) =
                (id.and_then(|id| self.objects.get(id)), id.and_then(|id| after.objects.get(id)));
            if (old != new) != case.does.arrives() {
                faults.push(format!(
                    "{}.{}: on the service {old:?} became {new:?}",
                    table.kind, case.path
                ));
            }
        }
        faults
    }
}
