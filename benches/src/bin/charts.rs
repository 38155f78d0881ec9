//! Draws the results of the benchmarks: `charts DIR OUT` reads criterion's results in `DIR` and writes one chart per
//! benchmark and a page with all figures to `OUT`.
//!
//! The charts show time against the size of the store, both with logarithmic scales: the median, and the range from the
//! fifth to the 95th percentile of the samples.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use plotters::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The size of a chart in pixels.
const SIZE: (u32, u32) = (760, 420);
/// The colours of the programs. They can be told apart by colour-blind people (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// The part of criterion's `benchmark.json` that is read.
#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    /// `None` for a benchmark that is not in a group.
    function_id: Option<String>,
}

/// Criterion's `sample.json`: how often each sample ran, and how long that took in nanoseconds.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// The times of one run, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    low: f64,
    median: f64,
    high: f64,
}

impl Samples {
    fn times(&self) -> Option<Times> {
        let mut each: Vec<f64> = self.times.iter().zip(&self.iters).map(|(time, runs)| time / runs / 1e6).collect();
        each.sort_by(f64::total_cmp);
        let at = |share: usize| each.get((each.len().checked_sub(1)? * share + 50) / 100).copied();
        Some(Times { low: at(5)?, median: at(50)?, high: at(95)? })
    }
}

/// The times of each program, by size.
type Programs = BTreeMap<String, BTreeMap<u32, Times>>;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, out] = arguments.as_slice() else {
        bail!("use `charts DIR OUT`, such as `charts target/criterion docs/charts`")
    };
    let (from, out) = (Path::new(from), Path::new(out));
    let mut benchmarks: BTreeMap<String, Programs> = BTreeMap::new();
    collect(from, &mut benchmarks)?;
    if benchmarks.is_empty() {
        bail!("{} contains no results with a size; run `cargo bench -p tessera-benches` first", from.display());
    }
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    for (name, programs) in &benchmarks {
        draw(&out.join(file_of(name)), name, programs)?;
    }
    let page = out.join("README.md");
    fs::write(&page, table(&benchmarks)).with_context(|| format!("cannot write {}", page.display()))
}

/// The file of a chart.
fn file_of(name: &str) -> String {
    format!("{}.svg", name.replace(' ', "-"))
}

fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} has an unknown form", path.display()))
}

/// Finds the latest results in a directory and below. The name of a group ends with the size of the store.
fn collect(dir: &Path, benchmarks: &mut BTreeMap<String, Programs>) -> anyhow::Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        if !(path.ends_with("new") && path.join("sample.json").is_file()) {
            collect(&path, benchmarks)?;
            continue;
        }
        let Benchmark { group_id, function_id } = read(&path.join("benchmark.json"))?;
        let size = group_id.rsplit_once(' ').and_then(|(name, size)| Some((name, size.parse().ok()?)));
        let (Some((name, size)), Some(program)) = (size, function_id) else { continue };
        if let Some(times) = read::<Samples>(&path.join("sample.json"))?.times() {
            let programs = benchmarks.entry(name.to_owned()).or_default();
            programs.entry(program).or_default().insert(size, times);
        }
    }
    Ok(())
}

/// The smallest and the largest number, with some room.
fn range(numbers: impl Iterator<Item = f64>, room: f64) -> std::ops::Range<f64> {
    let (low, high) =
        numbers.fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), number| (low.min(number), high.max(number)));
    low / room..high * room
}

fn draw(path: &Path, name: &str, programs: &Programs) -> anyhow::Result<()> {
    let all = || programs.values().flatten();
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{name}: milliseconds by number of memories"), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(
            range(all().map(|(size, _)| f64::from(*size)), 1.6).log_scale(),
            range(all().flat_map(|(_, times)| [times.low, times.high]), 1.6).log_scale(),
        )?;
    let style = ("sans-serif", 13);
    chart
        .configure_mesh()
        .x_label_formatter(&|size| format!("{size}"))
        .y_label_formatter(&|time| format!("{time}"))
        .label_style(style)
        .light_line_style(BLACK.mix(0.05))
        .draw()?;
    for ((program, by_size), colour) in programs.iter().zip(COLOURS.iter().cycle()) {
        let points = by_size.iter().map(|(size, times)| (f64::from(*size), *times));
        let medians = points.clone().map(|(size, times)| (size, times.median));
        chart
            .draw_series(LineSeries::new(medians.clone(), colour.stroke_width(2)))?
            .label(program)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(medians.map(|point| Circle::new(point, 3, colour.filled())))?;
        chart
            .draw_series(points.map(|(size, times)| {
                PathElement::new([(size, times.low), (size, times.high)], colour.stroke_width(1))
            }))?;
    }
    let legend = chart.configure_series_labels();
    { legend }.label_font(style).background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.2)).draw()?;
    area.present().with_context(|| format!("cannot write {}", path.display()))
}

/// A page with a chart and a table for each benchmark.
fn table(benchmarks: &BTreeMap<String, Programs>) -> String {
    let mut page = String::from(
        "# Charts\n\n`just bench` writes this page and the charts. Each field of a table contains the median time in \
         milliseconds, and the fifth and the\n95th percentile in parentheses.\n",
    );
    for (name, programs) in benchmarks {
        let sizes: std::collections::BTreeSet<u32> = programs.values().flat_map(BTreeMap::keys).copied().collect();
        let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let header: String = sizes.iter().map(|size| format!(" {size} |")).collect();
        let line = "---|".repeat(sizes.len());
        let _ = write!(
            page,
            "\n## {title}\n\n![{title}: time by number of memories]({})\n\n| memories |{header}\n|---|{line}\n",
            file_of(name)
        );
        for (program, by_size) in programs {
            let field = |size| match by_size.get(size) {
                Some(Times { low, median, high }) => {
                    format!(" {} ({}–{}) |", short(*median), short(*low), short(*high))
                }
                None => " |".to_owned(),
            };
            let fields: String = sizes.iter().map(field).collect();
            let _ = writeln!(page, "| {program} |{fields}");
        }
    }
    page
}

/// A number with three significant digits.
fn short(number: f64) -> String {
    let digits = (2.0 - number.abs().max(f64::MIN_POSITIVE).log10().floor()).clamp(0.0, 6.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 6")]
    let digits = digits as usize;
    format!("{number:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_become_a_chart_and_a_table() {
        let dir = tempfile::tempdir().expect("a directory");
        for (group, program, times) in [
            ("recall 1000", "tessera", [1e6, 2e6, 3e6]),
            ("recall 10000", "tessera", [2e6, 4e6, 6e6]),
            ("other", "x", [1.0; 3]),
        ] {
            let new = dir.path().join(group).join(program).join("new");
            fs::create_dir_all(&new).expect("a directory");
            let benchmark = serde_json::json!({ "group_id": group, "function_id": program, "throughput": null });
            fs::write(new.join("benchmark.json"), benchmark.to_string()).expect("written");
            let sample = serde_json::json!({ "sampling_mode": "Flat", "iters": [2.0, 2.0, 2.0], "times": times });
            fs::write(new.join("sample.json"), sample.to_string()).expect("written");
        }
        let alone = dir.path().join("pack 200/new");
        fs::create_dir_all(&alone).expect("a directory");
        fs::write(alone.join("benchmark.json"), r#"{"group_id":"pack 200","function_id":null}"#).expect("written");
        fs::write(alone.join("sample.json"), r#"{"iters":[1.0],"times":[1.0]}"#).expect("written");
        let mut found = BTreeMap::new();
        collect(dir.path(), &mut found).expect("readable");
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            ["recall"],
            "neither a group without a size nor a benchmark without a group has a chart"
        );
        let page = table(&found);
        assert!(
            page.contains("| memories | 1000 | 10000 |\n")
                && page.contains("| tessera | 1.00 (0.500–1.50) | 2.00 (1.00–3.00) |\n"),
            "{page}"
        );
        let chart = dir.path().join("recall.svg");
        draw(&chart, "recall", &found["recall"]).expect("drawn");
        let svg = fs::read_to_string(chart).expect("readable");
        assert!(svg.contains("tessera") && svg.matches("<circle").count() == 2, "{svg}");
    }
}
