//! `sinew reach`: a picture of an arm's workspace and of the tip's manipulability in it.

mod map;
mod page;

use sinew_files::urdf;

use crate::{
    args::ReachArgs, failure::Failure, lookup::ends, model::is_urdf, outputs::keep_inputs,
    picture::save::save, progress::Progress, threads,
};

/// Number of pieces that the work is cut into for the progress bar, with any number of threads.
const PIECES: u64 = 64;

/// Runs the subcommand.
pub fn run(args: &ReachArgs) -> Result<(), Failure> {
    if let Some(threads) = args.threads {
        threads::set(threads)?;
    }
    keep_inputs(&args.out, [args.model.as_path()])?;
    if !is_urdf(&args.model) {
        let error = sinew_files::FileError::Ending { path: args.model.clone(), wanted: ".urdf" };
        return Err(error.into());
    }
    let mechanism = urdf::read_with(&args.model, &args.memory.options())?;
    let in_file = |what: String| Failure::Work(format!("{}: {what}", args.model.display()));
    let (root, tip) = ends(&mechanism, args.chain.as_ref()).map_err(|e| in_file(e.to_string()))?;
    let tip = tip.map_err(in_file)?;
    let progress = Progress::new("sampling", PIECES, args.quiet);
    let map = map::sample(&mechanism, root, tip, args.samples, PIECES, |piece| progress.at(piece, PIECES));
    drop(progress);
    let map = map.map_err(|e| in_file(e.to_string()))?;
    Ok(save(&page::draw(&mechanism, root, tip, &map), &args.out)?)
}
