//! Programs of a scenario: each a process group in the namespace of its host, ended with the run.

use crate::clock::Clock;
use crate::namespace::Namespace;
use crate::wait::wait;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use ropewalk_scenario::CommandRow;
use ropewalk_scenario::plan::{AddressIndex, CommandPlan, NodeIndex, NodeKind, Plan};
use ropewalk_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{PidfdFlags, pidfd_open};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Octets of a program's output that are kept: the last ones.
const KEPT: usize = 64 << 10;
/// A thread that waits checks this often whether the run is over.
const LOOK: Duration = Duration::from_millis(20);
/// Between the signal that asks a program to end and the one that ends it.
const GRACE: Duration = Duration::from_secs(1);

/// A program to be run.
pub(crate) struct Program<'a> {
    pub(crate) plan: &'a Plan,
    /// The host's name.
    pub(crate) host: &'a str,
    pub(crate) namespace: &'a Namespace,
    pub(crate) command: &'a CommandPlan,
    /// Its process group, for the observer; 0 before it runs.
    pub(crate) group: &'a AtomicI32,
}

/// What became of it.
#[derive(Default)]
struct Execution {
    start: Option<Instant>,
    /// When it was seen to end before the run was over.
    end: Option<Instant>,
    status: Option<ExitStatus>,
    output: VecDeque<u8>,
    output_bytes: u64,
}

/// A process that has started.
struct Process {
    child: Child,
    pidfd: OwnedFd,
    /// Its output, until that is over.
    output: Option<PipeReader>,
    ended: bool,
}

/// Room for the process groups of all programs, by host.
pub(crate) fn groups(plan: &Plan) -> BTreeMap<NodeIndex, Vec<AtomicI32>> {
    let hosts = plan.nodes.iter().enumerate().filter(|(_, node)| !node.commands.is_empty());
    hosts.map(|(index, node)| (index, node.commands.iter().map(|_| AtomicI32::new(0)).collect())).collect()
}

/// The programs of all hosts.
pub(crate) fn programs<'a>(
    plan: &'a Plan,
    namespaces: &'a BTreeMap<NodeIndex, Namespace>,
    groups: &'a BTreeMap<NodeIndex, Vec<AtomicI32>>,
) -> impl Iterator<Item = Program<'a>> {
    groups.iter().flat_map(move |(index, groups)| {
        let (node, namespace) = (&plan.nodes[*index], &namespaces[index]);
        let each = node.commands.iter().zip(groups);
        each.map(move |(command, group)| Program { plan, host: &node.name, namespace, command, group })
    })
}

impl Program<'_> {
    /// Runs it until it ends or the run is over.
    pub(crate) fn run(&self, clock: Clock, over: &AtomicBool) -> CommandRow {
        let mut execution = Execution::default();
        let result = self.follow(clock, over, &mut execution);
        let by_itself = execution.status.filter(|_| execution.end.is_some());
        let number = |code: Option<i32>| code.and_then(|code| u32::try_from(code).ok());
        CommandRow {
            host: self.host.to_owned(),
            name: self.command.name.clone(),
            command: self.command.command.clone(),
            start: execution.start,
            end: execution.end,
            exit_code: number(by_itself.and_then(|status| status.code())),
            signal: number(by_itself.and_then(|status| status.signal())),
            output: String::from_utf8_lossy(execution.output.make_contiguous()).into_owned(),
            output_bytes: execution.output_bytes,
            error: result.err().map(|error| error.to_string()),
        }
    }

    fn follow(&self, clock: Clock, over: &AtomicBool, execution: &mut Execution) -> io::Result<()> {
        if !clock.wait_until(self.command.start, over) {
            return Ok(());
        }
        let mut process = self.namespace.inside(|| self.start())?;
        execution.start = Some(clock.now());
        self.group.store(process.group().as_raw(), Ordering::Relaxed);
        while !over.load(Ordering::Relaxed) && !process.is_over() {
            process.watch(execution)?;
            if process.ended && execution.end.is_none() {
                execution.end = Some(clock.now());
            }
        }
        execution.status = Some(process.end(execution)?);
        Ok(())
    }

    /// Starts it, as the leader of a group of its own: Ctrl-C on a terminal does not come to it.
    fn start(&self) -> io::Result<Process> {
        let (output, theirs) = io::pipe()?;
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(&self.command.command).process_group(0);
        shell.stdin(Stdio::null()).stdout(theirs.try_clone()?).stderr(theirs);
        let child = shell.envs(variables(self.plan)).spawn()?;
        let pid = rustix::process::Pid::from_child(&child);
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Process { child, pidfd, output: Some(output), ended: false })
    }
}

impl Process {
    /// Its process group. The leader is not waited for before the end, so that no other process can
    /// get its number.
    fn group(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Has it ended, and is all read that it has written?
    const fn is_over(&self) -> bool {
        self.ended && self.output.is_none()
    }

    /// Waits for a moment, and sees whether it has ended and what it has written.
    fn watch(&mut self, execution: &mut Execution) -> io::Result<()> {
        let mut fds = Vec::new();
        if !self.ended {
            fds.push(PollFd::new(&self.pidfd, PollFlags::IN));
        }
        fds.extend(self.output.as_ref().map(|output| PollFd::new(output, PollFlags::IN)));
        wait(&mut fds, LOOK)?;
        self.ended = self.ended || is_ready(&self.pidfd)?;
        match &self.output {
            Some(output) if is_ready(output)? => self.read(execution),
            _ => Ok(()),
        }
    }

    /// Ends it and its group: first by SIGTERM, and after [`GRACE`] by SIGKILL.
    fn end(mut self, execution: &mut Execution) -> io::Result<ExitStatus> {
        // This fails if no process is left, or if it may not be signalled. In both cases nothing
        // else can be done.
        let _ = killpg(self.group(), Signal::SIGTERM);
        let clock = Clock::new();
        while clock.now() < Instant::ZERO + GRACE && !self.is_over() {
            self.watch(execution)?;
        }
        let _ = killpg(self.group(), Signal::SIGKILL);
        self.child.wait()
    }

    /// Takes what it has written.
    fn read(&mut self, execution: &mut Execution) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let mut octets = [0; 4096];
        let len = output.read(&mut octets)?;
        if len == 0 {
            self.output = None;
        }
        execution.output_bytes += len as u64;
        execution.output.extend(&octets[..len]);
        let surplus = execution.output.len().saturating_sub(KEPT);
        execution.output.drain(..surplus);
        Ok(())
    }
}

fn is_ready(fd: &impl AsFd) -> io::Result<bool> {
    wait(&mut [PollFd::new(fd, PollFlags::IN)], Duration::ZERO)
}

/// The hosts' addresses by name, for the shell: `ip_HOST`, the first, and `ip_HOST_LINK`.
fn variables(plan: &Plan) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (index, link) in plan.links.iter().enumerate() {
        for (end, node) in link.ends.map(|node| &plan.nodes[node]).into_iter().enumerate() {
            if node.kind == NodeKind::Host {
                let address = plan.address(AddressIndex::new(index, end)).to_string();
                let host = format!("ip_{}", plain(&node.name));
                all.insert(format!("{host}_{}", plain(&link.name)), address.clone());
                all.entry(host).or_insert(address);
            }
        }
    }
    all
}

/// A name as a shell's variable may have it.
fn plain(name: &str) -> String {
    name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect()
}
