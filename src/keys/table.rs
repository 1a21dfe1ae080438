//! The one table of actions: name, default keys, one line of help, place in the footer. A new action is one row here.
//! Flat data only. No action that changes a cluster may stand on a key that hands press by habit.

use Context::{
    Access, Editor, Events, Field, Global, List, Machines, Objects, Picker, Plane, Planes, Pools, Requests, Review, Rollout, Text,
    Timeline, Yaml,
};

/// Where a key is pressed. Looked up from the most special to [`Global`] ([`Context::chain`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // named like the screens
pub enum Context {
    Global,
    /// Any list with a cursor.
    List,
    /// Any text that scrolls.
    Text,
    Planes,
    /// Any tab of a plane.
    Plane,
    Overview,
    Pools,
    Machines,
    Events,
    Timeline,
    /// The objects of a plane, before one is opened as YAML.
    Objects,
    Yaml,
    Access,
    Requests,
    /// The node-group form.
    Editor,
    /// The edit as it would be written.
    Review,
    /// An edit on its way.
    Rollout,
    /// A list with a text field above it.
    Picker,
    /// A text field alone.
    Field,
}

impl Context {
    /// Every context.
    pub const ALL: &'static [Context] = &[
        Context::Global,
        List,
        Text,
        Planes,
        Plane,
        Context::Overview,
        Pools,
        Machines,
        Events,
        Timeline,
        Objects,
        Yaml,
        Access,
        Requests,
        Editor,
        Review,
        Rollout,
        Picker,
        Field,
    ];

    /// Contexts whose bindings count here, the most special first. Fields and pickers end the chain themselves: there, letters are text.
    pub fn chain(self) -> &'static [Context] {
        match self {
            Global => &[Global],
            List => &[List, Global],
            Text => &[Text, Global],
            Planes => &[Planes, List, Global],
            Plane => &[Plane, Global],
            Context::Overview => &[Context::Overview, Plane, Text, Global],
            Pools => &[Pools, Plane, List, Global],
            Machines => &[Machines, Plane, List, Global],
            Events => &[Events, Plane, List, Global],
            Timeline => &[Timeline, Plane, List, Global],
            Objects => &[Objects, Plane, List, Global],
            Yaml => &[Yaml, Plane, Text, Global],
            Access => &[Access, Text, Global],
            Requests => &[Requests, List, Global],
            Editor => &[Editor, Global],
            Review => &[Review, Text, Global],
            Rollout => &[Rollout, Text, Global],
            Picker => &[Picker],
            Field => &[Field],
        }
    }

    /// The name in help and settings messages.
    pub fn name(self) -> &'static str {
        match self {
            Global => "everywhere",
            List => "lists",
            Text => "texts",
            Planes => "planes",
            Plane => "plane",
            Context::Overview => "overview",
            Pools => "pools",
            Machines => "machines",
            Events => "events",
            Timeline => "timeline",
            Objects => "objects",
            Yaml => "YAML",
            Access => "access",
            Requests => "requests",
            Editor => "editor",
            Review => "review",
            Rollout => "rollout",
            Picker => "pickers",
            Field => "text fields",
        }
    }
}

/// Heading in help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Group {
    Move,
    Look,
    Edit,
    Find,
    Go,
    Console,
}

impl Group {
    /// All, in the order of help.
    pub const ALL: [Group; 6] = [Group::Move, Group::Look, Group::Edit, Group::Find, Group::Go, Group::Console];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Move => "Move",
            Group::Look => "Look closer",
            Group::Edit => "Edit pools",
            Group::Find => "Find and sort",
            Group::Go => "Go to",
            Group::Console => "Console",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct ActionInfo {
    /// The action.
    pub action: Action,
    /// Name in settings, e.g. `page-down`.
    pub id: &'static str,
    /// Heading.
    pub group: Group,
    /// Default keys: contexts and chords, in our notation.
    pub keys: &'static [(Context, &'static [&'static str])],
    /// One or two words for the footer.
    pub short: &'static str,
    /// One line for help and palette.
    pub doc: &'static str,
    /// Place in the footer, 1 first; 0 never.
    pub footer: u8,
}

macro_rules! actions {
    ($($action:ident $id:literal $group:ident $footer:literal $short:literal $doc:literal [$($ctx:ident: $($key:literal)+),*];)+) => {
        /// What the user asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)] // the table's `doc` says it
        pub enum Action { $($action),+ }

        /// Every action, in the order of help.
        pub const ACTIONS: &[ActionInfo] = &[$(ActionInfo {
            action: Action::$action,
            id: $id,
            group: Group::$group,
            keys: &[$(($ctx, &[$($key),+])),*],
            short: $short,
            doc: $doc,
            footer: $footer,
        }),+];
    };
}

#[rustfmt::skip]
actions! {
    Up "up" Move 0 "up" "One line up" [List: "k" "up" "ctrl-p", Text: "k" "up" "ctrl-p", Picker: "up" "ctrl-p", Field: "up", Editor: "k" "up" "ctrl-p"];
    Down "down" Move 0 "down" "One line down" [List: "j" "down" "ctrl-n", Text: "j" "down" "ctrl-n", Picker: "down" "ctrl-n", Field: "down", Editor: "j" "down" "ctrl-n"];
    PageUp "page-up" Move 0 "page up" "One page up" [List: "pageup" "ctrl-b", Text: "pageup" "ctrl-b", Picker: "pageup", Editor: "pageup"];
    PageDown "page-down" Move 0 "page down" "One page down" [List: "pagedown" "ctrl-f", Text: "pagedown" "ctrl-f" "space", Picker: "pagedown", Editor: "pagedown"];
    HalfUp "half-up" Move 0 "half up" "Half a page up" [List: "ctrl-u", Text: "ctrl-u"];
    HalfDown "half-down" Move 0 "half down" "Half a page down" [List: "ctrl-d", Text: "ctrl-d"];
    First "first" Move 0 "first" "To the first line" [List: "g" "home", Text: "g" "home", Editor: "g" "home"];
    Last "last" Move 0 "last" "To the last line" [List: "G" "end", Text: "G" "end", Editor: "G" "end"];
    Left "left" Move 0 "left" "Scroll left" [Yaml: "h" "left", Editor: "h" "left"];
    Right "right" Move 0 "right" "Scroll right" [Yaml: "l" "right", Editor: "l" "right"];
    Back "back" Move 6 "back" "Back: closes what is in front, then the screen" [Global: "esc", Picker: "esc", Field: "esc"];

    Open "open" Look 1 "open" "Open what the cursor is on" [List: "enter"];
    Why "why" Look 3 "why" "Why: every layer with all its evidence" [Planes: "w", Plane: "w"];
    NextTab "next-tab" Look 2 "tabs" "Next tab" [Plane: "tab"];
    PrevTab "previous-tab" Look 0 "previous tab" "Previous tab" [Plane: "backtab"];
    TabOverview "overview" Look 0 "overview" "Layers with evidence and next steps" [Plane: "1"];
    TabPools "pools" Look 0 "pools" "Pools of the plane" [Plane: "2"];
    TabMachines "machines" Look 0 "machines" "Machines of the plane" [Plane: "3"];
    TabEvents "events" Look 0 "events" "Events along the plane's objects" [Plane: "4"];
    TabTimeline "timeline" Look 0 "timeline" "What changed, newest first" [Plane: "5"];
    TabYaml "yaml" Look 0 "yaml" "Objects of the plane as YAML" [Plane: "6"];
    CopyTicket "copy-ticket" Look 7 "copy" "Copy a ticket text: verdict, evidence, coverage" [Planes: "y", Plane: "y"];
    CopyText "copy-text" Look 7 "copy" "Copy the text shown or the line under the cursor" [Yaml: "y", Events: "y", Machines: "y", Objects: "y", Requests: "y", Access: "y"];

    Edit "edit" Look 4 "edit pools" "Edit the plane's pools: nothing is written before the review" [Planes: "e", Plane: "e"];
    EditField "edit-field" Edit 1 "edit" "Edit the field under the cursor" [Editor: "enter"];
    OtherPane "other-pane" Edit 2 "pools/fields" "To the pools or to the fields" [Editor: "tab" "backtab"];
    StepUp "step-up" Edit 3 "step" "One step more; the unit stays" [Editor: "+" "="];
    StepDown "step-down" Edit 0 "less" "One step less; the unit stays" [Editor: "-"];
    AddPool "add-pool" Edit 5 "add" "Add a pool" [Editor: "a"];
    ClonePool "clone-pool" Edit 0 "clone" "Add a pool like this one" [Editor: "C"];
    RenamePool "rename-pool" Edit 0 "rename" "Rename the pool: to the platform that is one removed and one added" [Editor: "R"];
    RemovePool "remove-pool" Edit 0 "remove" "Remove the pool from the draft" [Editor: "D"];
    ClearField "clear-field" Edit 0 "unset" "Take the field out: its default counts" [Editor: "d" "delete"];
    Undo "undo" Edit 6 "undo" "Undo the last change" [Editor: "u"];
    Redo "redo" Edit 0 "redo" "Redo what was undone" [Editor: "U"];
    UndoField "undo-field" Edit 0 "undo field" "Undo the last change of this field only" [Editor: "z"];
    RedoField "redo-field" Edit 0 "redo field" "Redo what was undone in this field" [Editor: "Z"];
    KeepSpelling "keep-spelling" Edit 0 "keep spelling" "Keep the old spelling where only the spelling changed: nothing is recreated for it" [Editor: "K"];
    ShowText "show-text" Edit 0 "as YAML" "Show the draft as YAML" [Editor: "v"];
    EditText "edit-text" Edit 7 "$EDITOR" "Edit the draft as YAML in $EDITOR" [Editor: "E"];
    Reset "reset" Edit 0 "reset" "Back to the live values; undo brings the draft again" [Editor: "X"];
    TakeDraft "take-draft" Edit 0 "draft" "Open the draft that was found; undo goes back" [Editor: "o"];
    Review "review" Edit 4 "review" "Read the plane again and show what would be written" [Editor: "ctrl-s", Review: "ctrl-r"];
    TakeMine "take-mine" Edit 2 "mine" "Conflict: my value" [Review: "m"];
    TakeTheirs "take-theirs" Edit 3 "theirs" "Conflict: the live value" [Review: "t"];
    TakeBase "take-base" Edit 4 "base" "Conflict: the value both started from" [Review: "b"];
    NextConflict "next-conflict" Edit 0 "next" "To the next conflict" [Review: "tab"];
    Write "write" Edit 1 "write" "Write it to the cluster" [Review: "W"];
    PutBack "put-back" Edit 1 "previous values" "Open the values from before this edit as a draft" [Rollout: "p"];

    Filter "filter" Find 4 "filter" "Filter: words, state: ns: pool: sev:" [List: "/"];
    Sort "sort" Find 6 "sort" "Sort by the next column" [List: "s"];
    SortReverse "sort-reverse" Find 0 "reverse" "Reverse the order" [List: "S"];
    Find "find" Find 4 "find" "Find in the text" [Yaml: "/"];
    FindNext "find-next" Find 0 "next" "Next place found" [Yaml: "n"];
    FindPrevious "find-previous" Find 0 "previous" "Previous place found" [Yaml: "N"];
    Accept "accept" Find 1 "choose" "Take it" [Picker: "enter", Field: "enter"];
    AcceptAndReview "accept-and-review" Edit 0 "review" "Take the text of a field and go on to the review" [Field: "ctrl-s"];
    Complete "complete" Find 2 "complete" "Complete the word" [Field: "tab"];
    Toggle "toggle" Find 2 "mark" "Mark or unmark" [Picker: "tab" "space"];

    Home "planes" Go 0 "planes" "Back to the list of planes" [Global: "H"];
    Namespaces "namespaces" Go 8 "namespaces" "Choose which namespaces are looked at" [Global: "n"];
    Contexts "contexts" Go 0 "contexts" "Choose the cluster" [Global: "c"];
    Access "access" Go 0 "access" "What this identity may see and do, and the credential boundary" [Global: "a"];
    Requests "requests" Go 0 "requests" "Every request the console made or refused" [Global: "r"];
    Palette "palette" Go 7 "palette" "Find any action, plane, namespace or cluster" [Global: ":" "ctrl-k"];

    Help "help" Console 5 "help" "What the keys do here" [Global: "?" "f1", Picker: "f1", Field: "f1"];
    Retry "retry" Console 0 "retry" "Try refused and lost sources again now" [Global: "ctrl-r" "f5", Picker: "f5"];
    Dismiss "dismiss" Console 0 "dismiss" "Put read notices away" [Global: "x"];
    Suspend "suspend" Console 0 "suspend" "Stop the console and give the terminal back" [Global: "ctrl-z", Picker: "ctrl-z", Field: "ctrl-z"];
    Quit "quit" Console 8 "quit" "Leave" [Global: "q" "ctrl-c", Picker: "ctrl-c", Field: "ctrl-c"];
}

impl Action {
    /// The table row. Every action has one: both come from the same macro.
    pub fn info(self) -> Option<&'static ActionInfo> {
        ACTIONS.iter().find(|a| a.action == self)
    }

    /// The action of that name.
    pub fn by_id(id: &str) -> Option<Action> {
        ACTIONS.iter().find(|a| a.id == id).map(|a| a.action)
    }
}
