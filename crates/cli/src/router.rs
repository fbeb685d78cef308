//! `weft router`: forwards real packets until it is interrupted.

use crate::input_kind::{self, InputKind};
use crate::{console, interrupt};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_appliance::misspelt;
use weft_blueprint::sized::SizeQuestion;

/// Arguments of `weft router`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft router edge.toml            forward until Ctrl-C, then print counters
  weft router edge.toml --check    only check the file
  weft router show queues sw.toml  all queues of a switch
  weft router show routes kernel.toml --prefix 10.0.0.0/8
  weft router plan --ports 64      how many servers a router of 64 ports takes
  weft router simulate rb4.toml    what a described cluster of servers can do

Interfaces need CAP_NET_RAW, TAP devices CAP_NET_ADMIN. Do not configure IP
addresses on the interfaces, or the kernel will answer too.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct RouterArguments {
    #[command(subcommand)]
    command: Option<RouterCommand>,
    /// Ports, addresses and routes (TOML)
    #[arg(required = true)]
    config: Option<PathBuf>,
    /// Only check the file
    #[arg(long)]
    check: bool,
    /// What follows a misspelt command
    #[arg(hide = true, allow_hyphen_values = true, trailing_var_arg = true)]
    beyond: Vec<String>,
}

/// Commands other than running a router.
#[derive(Subcommand)]
enum RouterCommand {
    /// How many servers a router takes, how they are linked, and what switches would cost
    Plan(PlanArguments),
    /// Simulate a cluster of servers that is one router
    Simulate {
        /// Its description: nodes, links, servers, traffic (TOML)
        config: PathBuf,
    },
    /// Show workers, ports, routes, neighbours and queues of a running router
    Show(ShowArguments),
}

/// Arguments of `weft router show`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct ShowArguments {
    #[command(subcommand)]
    part: Option<ShownPart>,
    /// The file it was started with; `metrics` in it says where to ask
    #[arg(required = true)]
    config: Option<PathBuf>,
    /// A file after a misspelt part
    #[arg(hide = true)]
    beyond: Option<PathBuf>,
}

/// Parts of what a router shows.
#[derive(Subcommand)]
enum ShownPart {
    /// Every worker: what it has received, sent and dropped, and how busy it is
    Workers {
        /// The file it was started with
        config: PathBuf,
    },
    /// Routes and where they lead, at most 1000
    Routes {
        /// The file it was started with
        config: PathBuf,
        /// Only routes inside this prefix or, with an address, those that contain it
        #[arg(long, value_name = "PREFIX", value_parser = weft_appliance::checked_prefix)]
        prefix: Option<String>,
        #[command(flatten)]
        port: PortFilter,
    },
    /// Every port: its link, what it has received and sent, and what was dropped there, by cause
    Ports {
        /// The file it was started with
        config: PathBuf,
        #[command(flatten)]
        port: PortFilter,
    },
    /// Every queue of a switch: what waits in it, the most it has held, and what it has dropped, by reason
    Queues {
        /// The file it was started with
        config: PathBuf,
        #[command(flatten)]
        port: PortFilter,
    },
}

/// A filter by port.
#[derive(Args)]
struct PortFilter {
    /// Only what concerns this port
    #[arg(long = "port", value_name = "NAME")]
    name: Option<String>,
}

impl ShowArguments {
    fn execute(self) -> Result<ExitCode, weft::Error> {
        let word = self.config.as_deref().filter(|word| self.beyond.is_some() || !word.exists());
        if let Some(word) = word.map(|word| word.to_string_lossy())
            && let Some(message) = misspelt::misspelt_part(&word, self.beyond.is_some())
        {
            return Err(weft::Error::BadInput(message));
        }
        match (self.part, self.config) {
            (Some(ShownPart::Workers { config }), _) => show(&config, ShownPage::all("/workers")),
            (Some(ShownPart::Routes { config, prefix, port }), _) => {
                show(&config, ShownPage { path: "/routes", prefix, port: port.name })
            }
            (Some(ShownPart::Ports { config, port }), _) => {
                show(&config, ShownPage { port: port.name, ..ShownPage::all("/ports") })
            }
            (Some(ShownPart::Queues { config, port }), _) => {
                show(&config, ShownPage { port: port.name, ..ShownPage::all("/queues") })
            }
            (None, config) => show(&config.unwrap_or_default(), ShownPage::all("/show")),
        }
    }
}

/// Arguments of `weft router plan`.
#[derive(Args)]
struct PlanArguments {
    /// External ports [default: an overview]
    #[arg(long, value_name = "N")]
    ports: Option<u32>,
    /// Rate of an external port, such as "10 Gbps" [default: that of the servers' time]
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Servers and switches of this time: 2009 or today
    #[arg(long, value_name = "WHEN", default_value = "today")]
    servers: String,
    /// Price of a server
    #[arg(long, value_name = "PRICE", value_parser = price)]
    server_price: Option<f64>,
    /// Price of a switch of 48 ports
    #[arg(long, value_name = "PRICE", value_parser = price)]
    switch_price: Option<f64>,
    /// Also draw servers over ports (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

fn price(text: &str) -> Result<f64, String> {
    let price: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if price > 0.0 && price < 1e12 { Ok(price) } else { Err("a price is above 0".to_owned()) }
}

impl PlanArguments {
    fn execute(self) -> Result<ExitCode, weft::Error> {
        let rate = self.rate.map(|text| weft_blueprint::sized::rate(&text)).transpose();
        let question = rate.and_then(|rate| SizeQuestion::new(self.ports, rate, &self.servers));
        let question = question.map_err(weft::Error::BadInput)?.priced(self.server_price, self.switch_price);
        if let Some(path) = &self.plot {
            console::refuse_existing(path)?;
        }
        console::show(question.text().trim_end())?;
        if let Some(path) = self.plot {
            console::save(&question.plot(), &path)?;
            console::show(&format!("plot: {}", path.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl RouterArguments {
    /// The message about a word that should be a command: it is no file, or other words follow it.
    fn misspelt_command(&self) -> Option<String> {
        let surely = !self.beyond.is_empty();
        let word = self.config.as_deref().filter(|word| surely || !word.exists())?;
        misspelt::misspelt_command(&word.to_string_lossy(), surely)
    }

    /// Runs the router.
    pub(crate) fn execute(self) -> Result<ExitCode, weft::Error> {
        if let Some(message) = self.misspelt_command() {
            return Err(weft::Error::BadInput(message));
        }
        let config = match (self.command, self.config) {
            (Some(RouterCommand::Show(shown)), _) => return shown.execute(),
            (Some(RouterCommand::Plan(question)), _) => return question.execute(),
            (Some(RouterCommand::Simulate { config }), _) => return simulate(&config),
            (None, config) => config.unwrap_or_default(),
        };
        let config = config.as_path();
        let plan = read(config)?;
        let remark = || {
            let all = weft_appliance::remarks(&plan);
            all.iter().for_each(|remark| console::complain(&format!("remark: {remark}")));
        };
        if self.check {
            remark();
            let problems = weft_appliance::start_problems(&plan);
            problems.iter().for_each(|problem| console::complain(&format!("warning: {problem}")));
            console::show(&format!("{}: no mistakes", config.display()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stop);
        let says = if plan.plays() { "playing captures" } else { "forwarding; Ctrl-C stops" };
        // Threads inherit the remaining privileges, so the one that waits for signals is started afterwards.
        let started = || {
            if !plan.plays() {
                weft_appliance::give_up_privileges()?;
            }
            interrupt::on_signals(move || stops.store(true, Ordering::Relaxed))?;
            console::complain(says);
            remark();
            Ok(())
        };
        let failed = |error: weft_appliance::ApplianceError| weft::Error::Failed(error.to_string());
        let report = weft_appliance::run(&plan, &stop, started).map_err(failed)?;
        console::show(&report.to_string())?;
        report.failure.map_or(Ok(ExitCode::SUCCESS), |failure| Err(failed(failure)))
    }
}

fn read(config: &Path) -> Result<weft_appliance::RouterPlan, weft::Error> {
    weft_appliance::file::read_plan(config).map_err(|mistakes| {
        let text = mistakes.draw(console::is_coloured());
        weft::Error::BadInput(text + &input_kind::hint(config, InputKind::Router))
    })
}

/// Simulates a cluster under all traffics of its description.
fn simulate(config: &Path) -> Result<ExitCode, weft::Error> {
    let blueprint = weft_blueprint::read_blueprint(config).map_err(|mistakes| {
        let text = mistakes.draw(console::is_coloured());
        weft::Error::BadInput(text + &input_kind::hint(config, InputKind::Cluster))
    })?;
    if blueprint.traffic.is_empty() {
        let hint = "for example `[[traffic]]` with `matrix = \"uniform\"` and `load = 0.9`";
        return Err(weft::Error::BadInput(format!("{} has no traffic: {hint}", config.display())));
    }
    console::show(weft_blueprint::simulated::simulated(&blueprint).to_string().trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// A page of a running router, and what of it is wanted.
struct ShownPage {
    path: &'static str,
    prefix: Option<String>,
    port: Option<String>,
}

impl ShownPage {
    /// A whole page.
    fn all(path: &'static str) -> ShownPage {
        ShownPage { path, prefix: None, port: None }
    }

    /// The page with its filters.
    fn target(&self) -> String {
        weft_appliance::watch::target(self.path, &[("prefix", &self.prefix), ("port", &self.port)])
    }
}

/// Shows a page of a running router.
fn show(config: &Path, shown: ShownPage) -> Result<ExitCode, weft::Error> {
    let plan = read(config)?;
    if let Some(message) = shown.port.as_deref().and_then(|name| plan.unknown_port(name)) {
        return Err(weft::Error::BadInput(message));
    }
    let address = plan.metrics.as_ref().ok_or_else(|| {
        let hint = "for example `metrics = \"unix:/run/weft-router\"`";
        weft::Error::BadInput(format!("{} has no key `metrics`: {hint}", config.display()))
    })?;
    if let Some(lacks) = lacks(&plan, shown.path) {
        return Err(weft::Error::BadInput(format!("{} {lacks}", config.display())));
    }
    let page = weft_appliance::watch::ask(address, &shown.target()).map_err(|error| {
        weft::Error::Failed(format!(
            "no router answers at {address} ({error}); start it with: weft router {}",
            config.display()
        ))
    })?;
    console::show(page.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Why a router of this plan has no such page.
fn lacks(plan: &weft_appliance::RouterPlan, path: &str) -> Option<&'static str> {
    use weft_appliance::plan::PlannedApplication::{Route, Switch};
    match (path, &plan.application) {
        ("/queues", Switch(_)) | ("/routes", Route { .. }) => None,
        ("/queues", _) => Some("is no switch: only `application = \"switch\"` has queues"),
        ("/routes", _) => Some("has no routes: only `application = \"route\"` has them"),
        _ => None,
    }
}
