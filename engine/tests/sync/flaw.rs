//! Ways in which syncs go wrong, each of which the simulator must notice. Most are from the older system.

/// One flaw, put into the simulated machines or their server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Changes are numbered when they begin and seen when they end: a cursor passes over the late ones.
    NumberedBeforeTheCommit,
    /// The cursor is stored first, and a crash comes before the rows.
    TheCursorComesFirst,
    /// The server gives new memories their ids: a retry makes another.
    TheServerMakesIds,
    /// After five attempts a write is dropped.
    DroppedAfterFive,
    /// What comes from the server replaces what is here, sent or not.
    TheServerWins,
    /// The queue is written after the memory: a crash between leaves a change that nobody sends.
    QueuedSeparately,
    /// Beginning anew, everything here is replaced.
    ResyncDeletesUnsent,
    /// Who loses sight of a memory is not told.
    NothingTellsOfAnUnshare,
    /// A deletion removes what somebody has changed since.
    ADeletionWins,
    /// The last text replaces the others.
    TheLastWriterWins,
    /// A database that went back is taken for the one that was known.
    ARestoreIsNotNoticed,
    /// What a snapshot lacks is taken for deleted.
    AbsenceIsADeletion,
    /// What has expired by a machine's clock is deleted by it, for everybody.
    WhatExpiredIsDeleted,
    /// Using a memory changes it.
    AUseIsAChange,
    /// What its owner deleted stays there for whoever it was shared with.
    WhatWasDeletedStaysShared,
    /// Of two memories of one id the later takes the place of the one that was there.
    WhoeverComesLastTakesThePlace,
    /// Whoever may change the text may change everything, and bring back what was deleted.
    WhoeverMayWriteMayDoAnything,
    /// Nobody knows who wrote a text.
    AnothersTextIsTheOwners,
    /// Of two changes of a file, what the other side added goes.
    AMergeDropsOneSide,
    /// What both sides changed in one place is put together nonetheless: the later takes the place.
    AMergeTakesWhatTouches,
    /// A change on which the server fails is sent until it is answered, and the others wait.
    OneFailureStopsAll,
    /// A page of a proxy is taken for a rejection by the server.
    AProxyRejects,
}

impl Flaw {
    pub(crate) const ALL: [Self; 22] = [
        Self::NumberedBeforeTheCommit,
        Self::TheCursorComesFirst,
        Self::TheServerMakesIds,
        Self::DroppedAfterFive,
        Self::TheServerWins,
        Self::QueuedSeparately,
        Self::ResyncDeletesUnsent,
        Self::NothingTellsOfAnUnshare,
        Self::ADeletionWins,
        Self::TheLastWriterWins,
        Self::ARestoreIsNotNoticed,
        Self::AbsenceIsADeletion,
        Self::WhatExpiredIsDeleted,
        Self::AUseIsAChange,
        Self::WhatWasDeletedStaysShared,
        Self::WhoeverComesLastTakesThePlace,
        Self::WhoeverMayWriteMayDoAnything,
        Self::AnothersTextIsTheOwners,
        Self::AMergeDropsOneSide,
        Self::AMergeTakesWhatTouches,
        Self::OneFailureStopsAll,
        Self::AProxyRejects,
    ];
}
