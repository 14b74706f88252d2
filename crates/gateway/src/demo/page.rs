//! The site's status page, shown outside of its namespace.

use super::inside;
use super::scene::PORT;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

/// Passes connections on to the site of the current scene.
#[derive(Clone)]
pub struct Page {
    namespace: Arc<Mutex<Option<PathBuf>>>,
    address: SocketAddr,
}

fn join(from: TcpStream, to: TcpStream) {
    let copy = |mut from: TcpStream, mut to: TcpStream| {
        // When one end closes, the other is closed, too.
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    };
    if let (Ok(from_too), Ok(to_too)) = (from.try_clone(), to.try_clone()) {
        thread::spawn(move || copy(from, to));
        thread::spawn(move || copy(to_too, from_too));
    }
}

impl Page {
    /// Opens the page on a free port of this machine.
    ///
    /// # Errors
    /// There is no free port.
    pub fn open() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let page = Self { namespace: Arc::default(), address: listener.local_addr()? };
        let namespace = Arc::clone(&page.namespace);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(path) = namespace.lock().ok().and_then(|path| path.clone()) else { continue };
                if let Ok(site) = inside(&path, || TcpStream::connect(("127.0.0.1", PORT))) {
                    join(stream, site);
                }
            }
        });
        Ok(page)
    }

    /// Shows the page of the site in this namespace.
    pub fn show(&self, namespace: PathBuf) {
        if let Ok(mut known) = self.namespace.lock() {
            *known = Some(namespace);
        }
    }

    /// Where a browser finds it.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}
