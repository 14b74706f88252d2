//! The registries of schedulers, couplings and path managers: one line for each. From a line follow the variant of the
//! configuration, the state that the connection keeps, and the name that scenario files know it by (the variant in kebab
//! case). What it does is in a file of its own, as `SchedulingRule`, `CouplingRule` or `PathManagerRule`.

/// Hands the couplings to the macro `$declare`: what it is, name, and its rule in `coupling/`.
#[macro_export]
macro_rules! couplings {
    ($declare:path) => {
        $declare! {
            /// NewReno on each subflow.
            Uncoupled = alone::NewReno;
            /// +1/w per ACK, −w/2 per loss.
            FullyCoupled = paper::FullyCoupled;
            /// +α/w per ACK, without the cap.
            LinkedIncreases = paper::LinkedIncreases;
            /// min(α/w, 1/w_i) per ACK.
            RttCompensator = paper::RttCompensator;
            /// RFC 6356.
            Lia = lia::Lia;
            /// Khalili et al. 2012.
            Olia = olia::Olia;
            /// Peng et al. 2016.
            Balia = balia::Balia;
            /// Cao, Xu, Fu 2012.
            Wvegas = wvegas::Wvegas;
            /// CUBIC on each subflow.
            Cubic = alone::Cubic;
            /// BBR on each subflow.
            Bbr = alone::Bbr;
        }
    };
}

/// Hands the schedulers to the macro `$declare`: what it is, name with its constants, and its rule in `scheduler/`.
#[macro_export]
macro_rules! schedulers {
    ($declare:path) => {
        $declare! {
            /// Cycle over the subflows that have room.
            RoundRobin = round_robin::RoundRobin;
            /// Lowest SRTT with room first.
            LowestRtt = lowest_rtt::LowestRtt;
            /// Upstream Linux: least time to drain what is queued.
            Linux = linux::Linux;
            /// Cycle with weights.
            WeightedRoundRobin { weights: Vec<u32> } = weighted::Weighted;
            /// Everything on every subflow.
            Redundant = redundant::Redundant;
            /// BLEST (Ferlin et al. 2016).
            Blest = blest::Blest;
            /// ECF (Lim et al. 2017).
            Ecf = ecf::Ecf;
            /// Leave a path out while using it would cost more than it brings.
            GoodputGuard(GuardConfig) = Box<guard::Guard>;
        }
    };
}

/// Hands the path managers to the macro `$declare`: what it is, name with its constants and what they are by default, and
/// its rule in `path_manager/`.
#[macro_export]
macro_rules! path_managers {
    ($declare:path) => {
        $declare! {
            /// One subflow per pair of a local and a remote address that the paths name or ADD_ADDR announces.
            FullMesh = mesh::Mesh;
            /// Several subflows over the first path, from different ports.
            Ndiffports {
                /// Subflows in all, the first included.
                subflows: u32 = 2,
            } = mesh::Mesh;
            /// As full mesh, but all except the first are opened as backups (B = 1).
            Backup = mesh::Mesh;
            /// Just the steps listed.
            Scripted {
                /// In order of time.
                steps: Vec<ScriptedStep> = Vec::new(),
            } = scripted::Script;
            /// Linux's in-kernel path manager, with what `ip mptcp` has set on each host.
            Kernel {
                /// On the host that opens the connection.
                client: KernelHost = KernelHost::default(),
                /// On the host that accepts it.
                server: KernelHost = KernelHost::default(),
            } = Box<kernel::Kernel>;
        }
    };
}
