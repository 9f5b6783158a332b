//! Judges one written file: contact and what must come back unchanged, then naturalness.

use std::path::Path;

use crate::{
    bvh,
    cases::{Case, GroundCase, Kind},
    figure::Figure,
    flat,
    ground::Ground,
    marks::{Marks, Row},
    maths::V3,
    measure::{self, Measures},
    motion::Motion,
    natural, note,
    options::Options,
    real_stairs, same,
    scene::Scene,
    strip, table, unchanged,
};

/// The contact bounds that a row misses, and its row in the tables of naturalness.
pub struct Verdict {
    /// Columns of the table of contact.
    pub missed: Vec<&'static str>,
    /// Naturalness.
    pub row: Row,
}

/// Measures one written file and prints its row of the table of contact.
pub fn judge(
    options: &Options,
    case: &Case,
    ground: &GroundCase,
    file: &Path,
    data: &Path,
) -> Result<Verdict, String> {
    let scene = Scene::read(file)?;
    let figure = Figure::new(&scene, &case.legs, case.is_bare())?;
    let node = scene.names.iter().rposition(|n| n == "ground").ok_or("no node \"ground\"")?;
    let floor = Ground::new(scene.triangles(node)?);
    if floor.triangles() == 0 {
        return Err("the ground has no triangles".into());
    }
    let motion = Motion::new(&scene, &figure, case.neck.find(&scene)?, case.motion)?;
    if options.strips {
        let path = file.with_extension("svg");
        std::fs::write(&path, strip::svg(&motion, &floor, &format!("{}, {}", case.name, ground.name)))
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    if ground.kind == Kind::Unchanged {
        let mut marks = Marks::default();
        unchanged::measure(&motion, &scene, &figure, &mut marks);
        return Ok(Verdict { missed: Vec::new(), row: Row::of(case, ground, vec![("weight 0", marks)]) });
    }
    let measures = measure::measure(&scene, &figure, &floor, case.motion)?;
    let traced = options.trace.map(|span| measure::trace(&scene, &figure, &floor, span)).transpose()?;
    let differences = match case.file.map(|f| data.join(f)) {
        Some(given) if case.is_bare() => {
            let text = std::fs::read_to_string(&given).map_err(|e| format!("{}: {e}", given.display()))?;
            let bvh = bvh::Bvh::parse(&text, case.scale.unwrap_or(1.0))
                .map_err(|e| format!("{}: {e}", given.display()))?;
            Some(bvh.differences(&scene, &note::Note::find(&scene)?.1))
        }
        Some(given) => Some(same::differences(&Scene::read(&given)?, &scene)),
        None => None,
    };
    let (row, missed) =
        table::row(options.csv, case.name, ground, &measures, differences.as_ref().map(Vec::len));
    println!("{row}");
    traced.into_iter().flatten().for_each(|line| println!("    {line}"));
    if options.details && !options.csv {
        details(&figure, &measures);
        differences.iter().flatten().for_each(|d| println!("    {d}"));
    }
    let row = Row::of(case, ground, naturalness(&motion, &scene, &floor, ground, &measures));
    if options.details && !options.csv {
        row.details().for_each(|line| println!("    {line}"));
    }
    Ok(Verdict { missed, row })
}

/// The tables of naturalness that a row is in.
fn naturalness(
    motion: &Motion,
    scene: &Scene,
    floor: &Ground,
    ground: &GroundCase,
    measures: &Measures,
) -> Vec<(&'static str, Marks)> {
    let mut all = Marks::default();
    let flat = ground.kind == Kind::Flat;
    natural::measure(motion, floor, flat, [measures.share, measures.hangs], &mut all);
    let mut tables = vec![("all grounds", all)];
    let mut marks = Marks::default();
    match ground.kind {
        Kind::Flat => {
            flat::measure(motion, scene, floor, &mut marks);
            tables.push(("flat", marks));
        }
        Kind::RealStairs { down } => {
            real_stairs::measure(motion, floor, down, &mut marks);
            tables.push(("18 x 28.5 cm", marks));
        }
        Kind::Plain | Kind::Unchanged => {}
    }
    tables
}

/// Prints what is known of a row besides its values.
fn details(figure: &Figure, measures: &Measures) {
    println!("    height {:.4} m", figure.height);
    for leg in &figure.legs {
        let words = |p: V3| format!("({:.4}, {:.4}, {:.4})", p.x, p.y, p.z);
        println!(
            "    {} leg {:.4} m, heel {} ball {}",
            leg.side,
            leg.length,
            words(leg.heel),
            words(leg.ball)
        );
    }
    for (column, l) in &measures.places {
        println!("    {column:9} most at {:.3} s: {:.3e}, {}", l.time, l.value, l.what);
    }
    println!("    {} contacts of heels and balls at {} keys", measures.contacts, measures.keys);
    for (reason, share) in &measures.reasons {
        println!("    not planted {:5.1}%  {reason}", 100.0 * share);
    }
    for t in &measures.straight {
        println!("    straight at {t:.3} s");
    }
}
