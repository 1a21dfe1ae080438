//! The select loop of the screens: gathers what happens, updates state, carries out effects, draws on the frame tick and only when something changed.
//! Owns the order of things; what a message means is state's, how it looks is the painter's.

use std::{sync::Arc, time::Duration};

use color_eyre::eyre::Result;
use crossterm::{
    event::EventStream,
    execute,
    terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate},
};
use futures::StreamExt as _;
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{
    connect::Connector,
    drafts::Drafts,
    input,
    links::{Done, Links},
    signals::Signals,
    terminal::{self, Screen},
};
use crate::{
    cluster::{door::Login, watch::WatchSet},
    model::{Time, World, audit::AuditRecord, feed::Feed},
    state::{Effect, Msg, State, screens},
    ui::{self, theme::Theme},
};

/// Frames come at most this often while data arrives; a key is answered at once.
const FRAME: Duration = Duration::from_millis(33);
/// Feeds folded in one turn before keys are looked at again.
const BATCH: usize = 512;
/// Feeds that may wait; a full channel slows the watches down, not the keys.
const QUEUE: usize = 2_048;

/// What the loop starts with.
pub struct Start {
    /// Where sessions come from.
    pub connector: Arc<Connector>,
    /// The state, fresh.
    pub state: State,
    /// Colours and signs.
    pub theme: Theme,
    /// Context asked for.
    pub context: Option<String>,
    /// Namespaces asked for.
    pub namespaces: Vec<String>,
    /// The whole cluster was asked for.
    pub all: bool,
    /// Capture the mouse.
    pub mouse: bool,
    /// Instead of a cluster: a world as it was at this time, which is then the clock.
    pub recorded: Option<(World, Time)>,
}

struct Console {
    state: State,
    theme: Theme,
    screen: Screen,
    events: Option<EventStream>,
    links: Links,
    drafts: Drafts,
    watches: Option<WatchSet>,
    feeds: mpsc::Sender<Feed>,
    unauthorized: Arc<Notify>,
    wake: Option<Instant>,
    dirty: bool,
    drawn: Instant,
    /// The clock stands still in a recording.
    frozen: Option<Time>,
}

/// Runs the screens until somebody leaves; returns the exit code.
///
/// # Errors
/// When the terminal can't be taken or drawn on.
pub async fn run(start: Start) -> Result<u8> {
    let mut signals = Signals::listen()?;
    let (feeds, mut feeds_in) = mpsc::channel(QUEUE);
    let (done, mut done_in) = mpsc::unbounded_channel();
    let mut audits = start.connector.trail().listen();
    let contexts = start.connector.contexts();
    let drafts = Drafts::open(done.clone());
    let links = Links::new(start.connector, done, start.all);
    let screen = Screen::open(start.mouse)?;
    let size = screen.terminal.size()?;
    let mut c = Console {
        state: start.state,
        theme: start.theme,
        screen,
        events: Some(EventStream::new()),
        links,
        drafts,
        watches: None,
        feeds,
        unauthorized: Arc::new(Notify::new()),
        wake: None,
        dirty: true,
        drawn: Instant::now() - FRAME,
        frozen: start.recorded.as_ref().map(|(_, at)| *at),
    };
    c.fold(Msg::Resize(size.width, size.height)).await?;
    c.fold(Msg::Focus(true)).await?;
    c.fold(Msg::Contexts(contexts)).await?;
    c.draw()?;
    match start.recorded {
        Some((world, at)) => c.show(world, at).await?,
        None => {
            c.effect(Effect::Connect { context: start.context, namespaces: start.namespaces }).await?;
        }
    }
    loop {
        let code = c.turn(&mut signals, &mut feeds_in, &mut done_in, &mut audits).await?;
        if let Some(code) = code {
            return Ok(code);
        }
    }
}

impl Console {
    fn now(&self) -> Time {
        self.frozen.unwrap_or_else(Time::now)
    }

    /// Puts a recorded world on screen.
    async fn show(&mut self, world: World, at: Time) -> Result<()> {
        let info = self.state.session.offered.first().cloned().unwrap_or_default();
        self.state.session.recorded(info, at);
        let key = self.state.session.key();
        self.state.store.sphere_mut(&key).show(world);
        self.fold(Msg::Tick(at)).await?;
        Ok(())
    }

    /// One thing that happens. `Some` ends the loop.
    async fn turn(
        &mut self,
        signals: &mut Signals,
        feeds: &mut mpsc::Receiver<Feed>,
        done: &mut mpsc::UnboundedReceiver<Done>,
        audits: &mut mpsc::UnboundedReceiver<(u64, AuditRecord)>,
    ) -> Result<Option<u8>> {
        let frame = self.drawn + FRAME;
        let wake = self.wake;
        let renew = self.links.renew_at();
        tokio::select! {
            biased;
            code = signals.next() => return Ok(Some(code)),
            event = next_event(&mut self.events) => {
                let Some(event) = event else { return Ok(Some(0)) };
                if let Some(msg) = input::message(event?) {
                    if self.fold(msg).await? {
                        return Ok(Some(0));
                    }
                    self.draw()?;
                }
            }
            () = tokio::time::sleep_until(frame), if self.dirty => self.draw()?,
            () = until(wake) => {
                self.wake = None;
                let now = self.now();
                self.fold(Msg::Tick(now)).await?;
            }
            () = until(renew) => self.links.renew(Login::Quiet),
            () = self.unauthorized.notified() => self.links.renew(Login::Quiet),
            Some(done) = done.recv() => self.done(done).await?,
            Some((seq, record)) = audits.recv() => {
                // The trail is shown on one screen only; elsewhere it changes nothing to look at.
                let shown = matches!(self.state.screen(), Some(screens::Screen::Requests(_)));
                let before = self.dirty;
                self.fold(Msg::Audited { seq, record: Box::new(record) }).await?;
                self.dirty = before || shown;
                if let Some(news) = self.links.trail().news() {
                    self.fold(Msg::Notice(news)).await?;
                }
            }
            Some(feed) = feeds.recv() => {
                self.state.now = self.now();
                self.feed(feed).await?;
                for _ in 0..BATCH {
                    let Ok(feed) = feeds.try_recv() else { break };
                    self.feed(feed).await?;
                }
            }
        }
        Ok(None)
    }

    async fn feed(&mut self, feed: Feed) -> Result<()> {
        let effects = crate::state::update(&mut self.state, Msg::Feed(Box::new(feed)));
        self.dirty |= self.state.is_unsettled();
        self.carry_out(effects).await?;
        Ok(())
    }

    /// Folds a message and carries out what it asks for; true to leave.
    async fn fold(&mut self, msg: Msg) -> Result<bool> {
        self.state.now = self.now();
        let effects = crate::state::update(&mut self.state, msg);
        self.dirty = true;
        self.carry_out(effects).await
    }

    async fn carry_out(&mut self, effects: Vec<Effect>) -> Result<bool> {
        let mut leave = false;
        for effect in effects {
            leave |= self.effect(effect).await?;
        }
        Ok(leave)
    }

    async fn effect(&mut self, effect: Effect) -> Result<bool> {
        match effect {
            Effect::Quit => return Ok(true),
            Effect::Suspend => self.suspend()?,
            Effect::Connect { .. } | Effect::RetryNow | Effect::WakeAt(_) if self.frozen.is_some() => {}
            Effect::Connect { context, namespaces } => {
                self.watches = None;
                self.links.open(context, namespaces, Login::Quiet);
            }
            Effect::Subscribe { generation, wanted } => {
                if let Some(session) = self.links.session() {
                    let watches = self
                        .watches
                        .get_or_insert_with(|| WatchSet::new(&session.info().name, self.feeds.clone(), Arc::clone(&self.unauthorized)));
                    watches.reconcile(&session, generation, &wanted);
                }
            }
            Effect::RetryNow => match &self.watches {
                Some(watches) => watches.retry_now(),
                None => self.links.again(),
            },
            Effect::Fetch { request, object } => self.links.fetch(request, object),
            Effect::Access { request, namespaces } => self.links.access(request, namespaces),
            Effect::Write { request, object, patch } => self.links.write(request, object, patch),
            Effect::AskWrite(object) => self.links.ask_write(object),
            Effect::LoadDraft(name) => self.drafts.load(name),
            Effect::SaveDraft(name, bytes) => self.drafts.save(name, bytes),
            Effect::EditText { request, text } => {
                self.events = None;
                terminal::restore();
                let result = super::outside::edit(&text).await;
                self.back()?;
                Box::pin(self.fold(Msg::Edited { request, result })).await?;
            }
            Effect::Copy(text) => {
                let copied = execute!(std::io::stdout(), crossterm::clipboard::CopyToClipboard::to_clipboard_from(text.as_str()));
                Box::pin(self.fold(Msg::Copied(copied.map_err(|e| e.to_string())))).await?;
            }
            // "At once" means with the next frame: a burst of feeds is judged once, not once each.
            Effect::WakeAt(at) => match Duration::try_from(at.duration_since(Time::now())) {
                Ok(wait) if !wait.is_zero() => self.wake = Some(Instant::now() + wait),
                _ => self.dirty = true,
            },
        }
        Ok(false)
    }

    async fn done(&mut self, done: Done) -> Result<()> {
        match done {
            Done::Msg(msg) => {
                self.fold(msg).await?;
            }
            Done::Linked(link, connected) => {
                self.links.linked(*link);
                self.watches = None;
                self.fold(Msg::Connected(connected)).await?;
            }
            Done::NeedsTerminal { context, namespaces, problem } => self.login_here(context, namespaces, &problem.to_string()).await?,
            Done::Renewed => {
                if let Some(watches) = &self.watches {
                    watches.retry_now();
                }
            }
        }
        Ok(())
    }

    /// Gives the terminal to a login plugin that wants to ask, then takes it back.
    async fn login_here(&mut self, context: Option<String>, namespaces: Vec<String>, why: &str) -> Result<()> {
        self.events = None;
        terminal::restore();
        crate::runtime::say(&format!("planedeck: the login needs this terminal: {why}"));
        let outcome = self.links.open_now(context, namespaces).await;
        self.back()?;
        Box::pin(self.done(outcome)).await
    }

    fn suspend(&mut self) -> Result<()> {
        self.events = None;
        terminal::restore();
        super::signals::stop_self();
        self.back()
    }

    fn back(&mut self) -> Result<()> {
        self.screen.resume()?;
        self.events = Some(EventStream::new());
        self.dirty = true;
        Ok(())
    }

    fn draw(&mut self) -> Result<()> {
        for effect in crate::state::settle(&mut self.state) {
            match effect {
                Effect::WakeAt(at) => self.wake = Duration::try_from(at.duration_since(Time::now())).ok().map(|d| Instant::now() + d),
                Effect::Subscribe { generation, wanted } => {
                    if let (Some(session), Some(watches)) = (self.links.session(), self.watches.as_mut()) {
                        watches.reconcile(&session, generation, &wanted);
                    }
                }
                _ => {}
            }
        }
        execute!(std::io::stdout(), BeginSynchronizedUpdate)?;
        let (state, theme) = (&self.state, &self.theme);
        self.screen.terminal.draw(|frame| ui::draw(state, theme, frame))?;
        execute!(std::io::stdout(), EndSynchronizedUpdate)?;
        // A fleet's verdicts come in slices, one a frame.
        self.dirty = self.state.is_unsettled();
        self.drawn = Instant::now();
        Ok(())
    }
}

/// The next terminal event; for ever while the terminal is somebody else's.
async fn next_event(events: &mut Option<EventStream>) -> Option<std::io::Result<crossterm::event::Event>> {
    match events {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}

/// Waits until a moment, or for ever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
