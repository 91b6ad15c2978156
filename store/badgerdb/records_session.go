package badgerdb

import (
	"fmt"
	"time"

	"hindsight/store"
)

// The fields of a session.
const (
	sID = iota + 1
	sExternal
	sTenant
	sUser
	sAgent
	sParent
	sState
	sTurns
	sStarted
	sLastSeen
	sLastSeq
	sCursor
	sNewTokens
	sDialect
	sModel
	sZone
	sCred
	sTrial
	sCorrections
	sInput
	sOutput
	sCached
	sPath
)

func appendSession(b []byte, x *store.Session) []byte {
	b = appendText(b, sID, x.ID)
	b = appendText(b, sExternal, x.ExternalID)
	b = appendText(b, sTenant, x.Owner.Tenant)
	b = appendText(b, sUser, x.Owner.User)
	b = appendText(b, sAgent, x.Owner.Agent)
	b = appendText(b, sParent, x.Parent)
	b = appendWord(b, sState, states(), x.State)
	b = appendInt(b, sTurns, x.Turns)
	b = appendTime(b, sStarted, x.Started, time.Time{})
	b = appendTime(b, sLastSeen, x.LastSeen, x.Started)
	b = appendNum(b, sLastSeq, x.LastSeq)
	b = appendNum(b, sCursor, x.Cursor)
	b = appendInt(b, sNewTokens, x.NewTokens)
	b = appendText(b, sDialect, x.Dialect)
	b = appendText(b, sModel, x.Model)
	b = appendText(b, sZone, x.Zone)
	b = appendHash(b, sCred, x.Cred)
	b = appendWord(b, sTrial, trials(), x.Trial)
	b = appendInt(b, sCorrections, x.Corrections)
	b = appendInt(b, sInput, x.Usage.Input)
	b = appendInt(b, sOutput, x.Usage.Output)
	b = appendInt(b, sCached, x.Usage.Cached)
	return appendText(b, sPath, x.Path)
}

func readSession(b []byte) (store.Session, error) {
	var x store.Session
	err := eachField(b, func(f field) {
		switch f.id {
		case sID:
			x.ID = f.string()
		case sExternal:
			x.ExternalID = f.string()
		case sTenant:
			x.Owner.Tenant = f.string()
		case sUser:
			x.Owner.User = f.string()
		case sAgent:
			x.Owner.Agent = f.string()
		case sParent:
			x.Parent = f.string()
		case sState:
			x.State = wordOf(f, states())
		case sTurns:
			x.Turns = f.int()
		case sStarted:
			x.Started = f.time(time.Time{})
		case sLastSeen:
			x.LastSeen = f.time(x.Started)
		case sLastSeq:
			x.LastSeq = f.num
		case sCursor:
			x.Cursor = f.num
		case sNewTokens:
			x.NewTokens = f.int()
		case sDialect:
			x.Dialect = f.string()
		case sModel:
			x.Model = f.string()
		case sZone:
			x.Zone = f.string()
		case sCred:
			x.Cred = f.hash()
		case sTrial:
			x.Trial = wordOf(f, trials())
		case sCorrections:
			x.Corrections = f.int()
		case sInput:
			x.Usage.Input = f.int()
		case sOutput:
			x.Usage.Output = f.int()
		case sCached:
			x.Usage.Cached = f.int()
		case sPath:
			x.Path = f.string()
		}
	})
	if err != nil {
		return x, fmt.Errorf("decode a session: %w", err)
	}
	return x, nil
}

// The fields of an anchor; its key and time stand in the row's key.
const (
	aSession = iota + 1
	aLength
	aAlone
)

func appendAnchor(b []byte, a *store.Anchor) []byte {
	b = appendText(b, aSession, a.Session)
	b = appendInt(b, aLength, a.Length)
	return appendFlag(b, aAlone, a.Alone)
}

func readAnchor(b []byte, a *store.Anchor) error {
	err := eachField(b, func(f field) {
		switch f.id {
		case aSession:
			a.Session = f.string()
		case aLength:
			a.Length = f.int()
		case aAlone:
			a.Alone = f.flag()
		}
	})
	if err != nil {
		return fmt.Errorf("decode an anchor: %w", err)
	}
	return nil
}
