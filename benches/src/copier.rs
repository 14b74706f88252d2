//! The least that a tunnel does: copies packets between a TUN interface and a UDP socket, a system call each, sealed by nobody.
//! What the gateway costs is compared with it. `copier TUN ADDRESS LOCAL REMOTE`

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use tun_rs::DeviceBuilder;

/// As the gateway's, over Ethernet.
const MTU: u16 = 1420;

fn main() -> std::io::Result<()> {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let [tun, address, local, remote] = arguments.as_slice() else {
        eprintln!("usage: copier TUN ADDRESS LOCAL REMOTE");
        std::process::exit(2);
    };
    let address: Ipv4Addr = address.parse().map_err(std::io::Error::other)?;
    let device = Arc::new(DeviceBuilder::new().name(tun).ipv4(address, 24, None).mtu(MTU).build_sync()?);
    let socket = Arc::new(UdpSocket::bind(local)?);
    socket.connect(remote)?;
    let (own, way) = (Arc::clone(&device), Arc::clone(&socket));
    std::thread::spawn(move || {
        let mut packet = [0; 2048];
        loop {
            // An error tells that the other end is not there yet. What the kernel does not take is lost.
            if let Ok(len) = way.recv(&mut packet) {
                let _ = own.send(&packet[..len]);
            }
        }
    });
    let mut packet = [0; 2048];
    loop {
        let len = device.recv(&mut packet)?;
        let _ = socket.send(&packet[..len]);
    }
}
