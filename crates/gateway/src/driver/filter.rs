//! A filter of the system calls that the process may make when everything is set up
//! (`man 2 seccomp`).
//!
//! A call that is not listed fails with EPERM. A call that only an intruder would make ends the
//! process.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod rules {
    use nix::libc;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};
    use std::io;

    /// The system calls that the process needs, by purpose.
    const NEEDED: &[&[libc::c_long]] = &[
        // Packets.
        &[
            libc::SYS_ppoll,
            libc::SYS_read,
            libc::SYS_readv,
            libc::SYS_write,
            libc::SYS_writev,
            libc::SYS_recvfrom,
            libc::SYS_recvmsg,
            libc::SYS_recvmmsg,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendmmsg,
        ],
        // Sockets that are opened again, netlink, and connections that ask for the status.
        &[
            libc::SYS_socket,
            libc::SYS_bind,
            libc::SYS_connect,
            libc::SYS_accept,
            libc::SYS_accept4,
            libc::SYS_shutdown,
            libc::SYS_getsockname,
            libc::SYS_getpeername,
            libc::SYS_getsockopt,
            libc::SYS_setsockopt,
            libc::SYS_ioctl,
            libc::SYS_fcntl,
            libc::SYS_dup,
            libc::SYS_dup3,
            libc::SYS_close,
        ],
        // The record, the file for quotas, and the socket of `status`, which is removed at the end.
        // Landlock lets no file be opened.
        &[
            libc::SYS_openat,
            libc::SYS_lseek,
            libc::SYS_fstat,
            libc::SYS_statx,
            libc::SYS_fsync,
            libc::SYS_unlinkat,
        ],
        // Time and random octets.
        &[
            libc::SYS_clock_gettime,
            libc::SYS_clock_nanosleep,
            libc::SYS_nanosleep,
            libc::SYS_getrandom,
            libc::SYS_restart_syscall,
        ],
        // Memory.
        &[
            libc::SYS_brk,
            libc::SYS_mmap,
            libc::SYS_mremap,
            libc::SYS_munmap,
            libc::SYS_mprotect,
            libc::SYS_madvise,
        ],
        // Threads, and giving up their capabilities.
        &[
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_futex,
            libc::SYS_set_robust_list,
            libc::SYS_rseq,
            libc::SYS_sched_yield,
            libc::SYS_sched_getaffinity,
            libc::SYS_gettid,
            libc::SYS_getpid,
            libc::SYS_prctl,
            libc::SYS_capget,
            libc::SYS_capset,
            libc::SYS_exit,
            libc::SYS_exit_group,
        ],
        // Signals. A process that aborts sends one to itself.
        &[
            libc::SYS_rt_sigaction,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigreturn,
            libc::SYS_sigaltstack,
            libc::SYS_tgkill,
        ],
        #[cfg(target_arch = "x86_64")]
        &[libc::SYS_poll, libc::SYS_dup2, libc::SYS_unlink],
    ];

    /// What the process that looks names up needs beside these: it reads files and loads modules.
    const LOOKING_UP: &[&[libc::c_long]] = &[
        &[
            libc::SYS_openat,
            libc::SYS_newfstatat,
            libc::SYS_statfs,
            libc::SYS_fstatfs,
            libc::SYS_faccessat,
            libc::SYS_faccessat2,
            libc::SYS_readlinkat,
            libc::SYS_getdents64,
            libc::SYS_pread64,
            libc::SYS_getcwd,
        ],
        // Who it is, and what the machine is called and has.
        &[
            libc::SYS_getuid,
            libc::SYS_geteuid,
            libc::SYS_getgid,
            libc::SYS_getegid,
            libc::SYS_uname,
            libc::SYS_sysinfo,
            libc::SYS_prlimit64,
            libc::SYS_gettimeofday,
            libc::SYS_clock_getres,
        ],
        // Waiting for a local name server.
        &[
            libc::SYS_epoll_create1,
            libc::SYS_epoll_ctl,
            libc::SYS_epoll_pwait,
            libc::SYS_eventfd2,
            libc::SYS_timerfd_create,
            libc::SYS_timerfd_settime,
            libc::SYS_pipe2,
            libc::SYS_socketpair,
        ],
        #[cfg(target_arch = "x86_64")]
        &[
            libc::SYS_open,
            libc::SYS_stat,
            libc::SYS_lstat,
            libc::SYS_access,
            libc::SYS_readlink,
            libc::SYS_epoll_wait,
            libc::SYS_select,
            libc::SYS_time,
            libc::SYS_arch_prctl,
        ],
    ];

    /// System calls that no part of it makes. They start programs, or concern other processes or
    /// the machine.
    const HOSTILE: &[libc::c_long] = &[
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_add_key,
        libc::SYS_keyctl,
        libc::SYS_reboot,
    ];

    fn program(
        calls: impl Iterator<Item = libc::c_long>,
        listed: SeccompAction,
        others: SeccompAction,
    ) -> io::Result<BpfProgram> {
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let rules = calls.map(|call| (call, Vec::new())).collect();
        let filter = SeccompFilter::new(rules, others, listed, arch).map_err(io::Error::other)?;
        filter.try_into().map_err(io::Error::other)
    }

    fn listed(calls: &[&[libc::c_long]]) -> Vec<libc::c_long> {
        calls.iter().flat_map(|calls| calls.iter().copied()).collect()
    }

    fn apply_to(needed: impl Iterator<Item = libc::c_long>) -> io::Result<()> {
        let refused = SeccompAction::Errno(libc::EPERM as u32);
        // Of two filters the kernel takes the stricter answer.
        for program in [
            program(HOSTILE.iter().copied(), SeccompAction::KillProcess, SeccompAction::Allow)?,
            program(needed, SeccompAction::Allow, refused)?,
        ] {
            apply_filter_all_threads(&program).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Filters the system calls of all threads.
    pub(in crate::driver) fn apply() -> io::Result<()> {
        apply_to(listed(NEEDED).into_iter())
    }

    /// The same for the process that looks names up.
    pub(in crate::driver) fn apply_to_lookups() -> io::Result<()> {
        apply_to(listed(NEEDED).into_iter().chain(listed(LOOKING_UP)))
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod rules {
    pub(in crate::driver) fn apply() -> std::io::Result<()> {
        Err(std::io::Error::other("there are no rules for this processor"))
    }

    pub(in crate::driver) fn apply_to_lookups() -> std::io::Result<()> {
        apply()
    }
}

/// Are system calls filtered?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seccomp {
    /// Yes, if the kernel has it.
    On,
    /// No: it is switched off.
    Off,
}

/// Filters system calls, if that is configured. A kernel without filters is logged.
pub(super) fn filter(seccomp: Seccomp) {
    match seccomp {
        Seccomp::Off => tracing::info!("system calls are not filtered, as configured"),
        Seccomp::On => note(rules::apply()),
    }
}

/// The same in the process that looks names up. That they are not filtered the daemon says.
pub(super) fn filter_lookups(seccomp: Seccomp) {
    if seccomp == Seccomp::On {
        note(rules::apply_to_lookups());
    }
}

fn note(applied: std::io::Result<()>) {
    if let Err(error) = applied {
        tracing::info!(reason = %error, "the kernel filters no system calls: that is left out");
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus};

    /// The environment variable that tells this program, started once more, which call to make.
    const CALL: &str = "ROPEWALK_FORBIDDEN_CALL";

    /// Runs this test once more, in a process that makes this call.
    fn with(call: &str) -> ExitStatus {
        let mut own = Command::new(std::env::current_exe().expect("this program"));
        let test = "driver::filter::tests::what_is_not_needed_fails_or_ends_the_process";
        let output = own.args(["--exact", test, "--test-threads=1"]).env(CALL, call).output();
        output.expect("it runs").status
    }

    #[test]
    fn what_is_not_needed_fails_or_ends_the_process() {
        match std::env::var(CALL).as_deref() {
            Err(_) => {
                assert!(with("none").success());
                assert!(with("chdir").success());
                assert_eq!(with("exec").signal(), Some(nix::libc::SIGSYS), "it is killed at once");
            }
            Ok(call) => {
                nix::sys::prctl::set_no_new_privs().expect("anyone may");
                rules::apply().expect("this kernel has filters");
                match call {
                    "chdir" => assert_eq!(nix::unistd::chdir("/"), Err(nix::errno::Errno::EPERM)),
                    "exec" => drop(nix::unistd::execv(c"/bin/true", &[c"true"])),
                    _ => {
                        let threads = (0..4).map(|_| std::thread::spawn(|| vec![1; 1 << 20]));
                        let all = threads.collect::<Vec<_>>().into_iter().map(std::thread::JoinHandle::join);
                        assert!(
                            all.into_iter().all(|octets| octets.is_ok_and(|octets| octets.len() == 1 << 20))
                        );
                    }
                }
            }
        }
    }
}
