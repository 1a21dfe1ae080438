//! A wire that can be cut: passes TCP on to a server, or ends every connection and takes no new one. Must not hold assertions.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

struct Wires {
    cut: bool,
    open: Vec<TcpStream>,
}

/// The wire.
pub struct Cut {
    /// The port to connect to.
    pub port: u16,
    wires: Arc<Mutex<Wires>>,
}

fn pump(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        let mut buffer = [0u8; 16_384];
        while let Ok(n) = from.read(&mut buffer) {
            if n == 0 || to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}

impl Cut {
    /// A wire to a local port.
    pub fn to(server: u16) -> Cut {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let wires = Arc::new(Mutex::new(Wires { cut: false, open: Vec::new() }));
        let shared = Arc::clone(&wires);
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let mut w = shared.lock().unwrap();
                if w.cut {
                    continue;
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                w.open.push(near.try_clone().unwrap());
                w.open.push(far.try_clone().unwrap());
                pump(near.try_clone().unwrap(), far.try_clone().unwrap());
                pump(far, near);
            }
        });
        Cut { port, wires }
    }

    /// Ends every connection; new ones end at once.
    pub fn cut(&self) {
        let mut w = self.wires.lock().unwrap();
        w.cut = true;
        for s in w.open.drain(..) {
            let _ = s.shutdown(Shutdown::Both);
        }
    }

    /// Passes on again.
    pub fn heal(&self) {
        self.wires.lock().unwrap().cut = false;
    }
}
