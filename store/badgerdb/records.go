package badgerdb

import (
	"fmt"
	"time"

	"hindsight/store"
)

// The fields of an exchange. Those from xEvent on belong to the event, ref,
// place or anchor that was opened last.
const (
	xID    = iota + 1
	xOwnID // what its id has more than its session's
	xSession
	xTenant
	xUser
	xAgent
	xSeq
	xStatus
	xHTTP
	xStarted
	xFinished
	xZone
	xDialect
	xModel
	xTurn
	xTokens
	xSent
	xReplayed
	xInput
	xOutput
	xCached
	xSystem
	xAnswer
	xCred
	xExternal
	xParent
	xEnd
	xEchoed

	xEvent // its kind
	xEventTime
	xEventTurn
	xEventText
	xEventName
	xEventCall
	xEventFailed
	xEventThird

	xRef // its id
	xRefRevision

	xPlace // its key
	xPlaceTurn

	xAnchor // its key
	xAnchorSession
	xAnchorLength
	xAnchorAlone
	xAnchorTime

	xTrial // of the exchange again
	xCorrections
	xPath
)

// appendExchange encodes an exchange with its places. home is the session that
// it lies under: what it says needn't be said again. Without one, the anchors
// go along too.
func appendExchange(b []byte, x *store.Exchange, home *store.Session) []byte {
	own, ok := "", false
	if home != nil {
		own, ok = store.OwnExchange(x.ID, home.ID)
	}
	if ok {
		b = appendText(b, xOwnID, own)
	} else {
		b = appendText(b, xID, x.ID)
	}
	if home == nil {
		b = appendText(b, xSession, x.Session)
	}
	if home == nil || home.Owner != x.Owner {
		b = appendItem(b, xTenant, x.Owner.Tenant)
		b = appendText(b, xUser, x.Owner.User)
		b = appendText(b, xAgent, x.Owner.Agent)
	}
	b = appendNum(b, xSeq, x.Seq)
	b = appendWord(b, xStatus, ends(), x.Status)
	b = appendInt(b, xHTTP, x.HTTP)
	b = appendTime(b, xStarted, x.Started, time.Time{})
	b = appendTime(b, xFinished, x.Finished, x.Started)
	b = appendText(b, xZone, x.Zone)
	b = appendText(b, xDialect, x.Dialect)
	b = appendText(b, xModel, x.Model)
	b = appendInt(b, xTurn, x.Turn)
	b = appendInt(b, xTokens, x.Tokens)
	b = appendInt(b, xSent, x.Sent)
	b = appendInt(b, xReplayed, x.Replayed)
	b = appendInt(b, xInput, x.Usage.Input)
	b = appendInt(b, xOutput, x.Usage.Output)
	b = appendInt(b, xCached, x.Usage.Cached)
	b = appendHash(b, xSystem, x.System)
	b = appendHash(b, xAnswer, x.Answer)
	b = appendHash(b, xCred, x.Cred)
	b = appendText(b, xExternal, x.SessionInfo.ExternalID)
	b = appendText(b, xParent, x.SessionInfo.Parent)
	b = appendFlag(b, xEnd, x.SessionInfo.End)
	b = appendWord(b, xTrial, trials(), x.SessionInfo.Trial)
	b = appendInt(b, xCorrections, x.SessionInfo.Corrections)
	b = appendText(b, xPath, x.Path)
	for _, h := range x.Echoed {
		b = appendHash(b, xEchoed, h)
	}
	for i := range x.Events {
		b = appendEvent(b, &x.Events[i], x.Started)
	}
	for _, r := range x.Injected {
		b = appendItem(b, xRef, r.ID)
		b = appendInt(b, xRefRevision, r.Revision)
	}
	b = appendPlaces(b, x.Places)
	if home != nil {
		return b
	}
	return appendAnchors(b, x)
}

func appendAnchors(b []byte, x *store.Exchange) []byte {
	for i := range x.Anchors {
		a := &x.Anchors[i]
		b = appendItem(b, xAnchor, string(a.Key[:]))
		b = appendText(b, xAnchorSession, a.Session)
		b = appendInt(b, xAnchorLength, a.Length)
		b = appendFlag(b, xAnchorAlone, a.Alone)
		b = appendTime(b, xAnchorTime, a.Time, x.Started)
	}
	return b
}

func appendEvent(b []byte, e *store.Event, from time.Time) []byte {
	n := len(b)
	if b = appendWord(b, xEvent, kinds(), e.Kind); len(b) == n {
		b = appendItem(b, xEvent, "")
	}
	b = appendTime(b, xEventTime, e.Time, from)
	b = appendInt(b, xEventTurn, e.Turn)
	b = appendText(b, xEventText, e.Text)
	b = appendText(b, xEventName, e.Name)
	b = appendText(b, xEventCall, e.CallID)
	b = appendFlag(b, xEventFailed, e.Failed)
	return appendText(b, xEventThird, e.ThirdParty)
}

func appendPlaces(b []byte, places []store.Place) []byte {
	for i := range places {
		b = appendItem(b, xPlace, string(places[i].Key[:]))
		b = appendInt(b, xPlaceTurn, places[i].Turn)
	}
	return b
}

// readExchange is the inverse of appendExchange. Where home is nil, what only it
// says stays empty: the session, its owner, an id that is made of its id.
func readExchange(b []byte, home *store.Session) (store.Exchange, error) {
	x := store.Exchange{Events: []store.Event{}}
	if home != nil {
		x.Session, x.Owner = home.ID, home.Owner
	}
	var e store.Event // what is open, so that a stray field does no harm
	var r store.Ref
	var p store.Place
	var a store.Anchor
	event, ref, place, anchor := &e, &r, &p, &a
	err := eachField(b, func(f field) {
		switch f.id {
		case xID:
			x.ID = f.string()
		case xOwnID:
			if home != nil {
				x.ID = store.ExchangeID(x.Session, f.string())
			}
		case xSession:
			x.Session = f.string()
		case xTenant:
			x.Owner = store.Owner{Tenant: f.string()}
		case xUser:
			x.Owner.User = f.string()
		case xAgent:
			x.Owner.Agent = f.string()
		case xSeq:
			x.Seq = f.num
		case xStatus:
			x.Status = wordOf(f, ends())
		case xHTTP:
			x.HTTP = f.int()
		case xStarted:
			x.Started = f.time(time.Time{})
		case xFinished:
			x.Finished = f.time(x.Started)
		case xZone:
			x.Zone = f.string()
		case xDialect:
			x.Dialect = f.string()
		case xPath:
			x.Path = f.string()
		case xModel:
			x.Model = f.string()
		case xTurn:
			x.Turn = f.int()
		case xTokens:
			x.Tokens = f.int()
		case xSent:
			x.Sent = f.int()
		case xReplayed:
			x.Replayed = f.int()
		case xInput:
			x.Usage.Input = f.int()
		case xOutput:
			x.Usage.Output = f.int()
		case xCached:
			x.Usage.Cached = f.int()
		case xSystem:
			x.System = f.hash()
		case xAnswer:
			x.Answer = f.hash()
		case xCred:
			x.Cred = f.hash()
		case xExternal:
			x.SessionInfo.ExternalID = f.string()
		case xParent:
			x.SessionInfo.Parent = f.string()
		case xEnd:
			x.SessionInfo.End = f.flag()
		case xTrial:
			x.SessionInfo.Trial = wordOf(f, trials())
		case xCorrections:
			x.SessionInfo.Corrections = f.int()
		case xEchoed:
			x.Echoed = append(x.Echoed, f.hash())
		case xEvent:
			x.Events = append(x.Events, store.Event{Kind: wordOf(f, kinds())})
			event = &x.Events[len(x.Events)-1]
		case xEventTime:
			event.Time = f.time(x.Started)
		case xEventTurn:
			event.Turn = f.int()
		case xEventText:
			event.Text = f.string()
		case xEventName:
			event.Name = f.string()
		case xEventCall:
			event.CallID = f.string()
		case xEventFailed:
			event.Failed = f.flag()
		case xEventThird:
			event.ThirdParty = f.string()
		case xRef:
			x.Injected = append(x.Injected, store.Ref{ID: f.string()})
			ref = &x.Injected[len(x.Injected)-1]
		case xRefRevision:
			ref.Revision = f.int()
		case xPlace:
			x.Places = append(x.Places, store.Place{Key: f.hash()})
			place = &x.Places[len(x.Places)-1]
		case xPlaceTurn:
			place.Turn = f.int()
		case xAnchor:
			x.Anchors = append(x.Anchors, store.Anchor{Key: f.hash()})
			anchor = &x.Anchors[len(x.Anchors)-1]
		case xAnchorSession:
			anchor.Session = f.string()
		case xAnchorLength:
			anchor.Length = f.int()
		case xAnchorAlone:
			anchor.Alone = f.flag()
		case xAnchorTime:
			anchor.Time = f.time(x.Started)
		}
	})
	if err != nil {
		return x, fmt.Errorf("decode an exchange: %w", err)
	}
	return x, nil
}
