package countersign

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"
)

// boolReply and redisFake have the methods of *redis.BoolCmd and *redis.Client that a store needs.
type boolReply struct {
	isSet bool
	err   error
}

func (r *boolReply) Result() (bool, error) { return r.isSet, r.err }

type redisFake struct {
	held map[string]time.Duration
	err  error
}

func (f *redisFake) SetNX(_ context.Context, key string, _ interface{}, left time.Duration) *boolReply {
	if _, isThere := f.held[key]; isThere || f.err != nil {
		return &boolReply{err: f.err}
	}
	f.held[key] = left
	return &boolReply{isSet: true}
}

func TestRedisReplayStoreTakesAVerdictOnce(t *testing.T) {
	fake := &redisFake{held: map[string]time.Duration{}}
	store := NewRedisReplayStore[*boolReply](fake)
	consume := func(until time.Duration) (bool, error) {
		return store.Consume(context.Background(), "a", time.Now().Add(until))
	}
	if first, err := consume(time.Hour); !first || err != nil {
		t.Error(first, err)
	}
	if again, err := consume(time.Hour); again || err != nil {
		t.Error(again, err)
	}
	if left := fake.held["countersign:used:a"]; left < 59*time.Minute || left > time.Hour {
		t.Error(fake.held)
	}
	store.Prefix = "mine:"
	// A client would take no time or less as for ever.
	if first, _ := consume(-time.Hour); !first || fake.held["mine:a"] != time.Millisecond {
		t.Error(fake.held)
	}
	fake.err = errors.New("down")
	if _, err := consume(time.Hour); err != fake.err {
		t.Error(err)
	}
}

type queriesFake struct {
	texts []string
	rows  int64
	err   error
}

func (f *queriesFake) ExecContext(_ context.Context, query string, _ ...interface{}) (sql.Result, error) {
	f.texts = append(f.texts, query)
	return rowsFake(f.rows), f.err
}

type rowsFake int64

func (rowsFake) LastInsertId() (int64, error)   { return 0, errors.New("none") }
func (r rowsFake) RowsAffected() (int64, error) { return int64(r), nil }

func TestPostgresReplayStoreSweepsOnceAMinute(t *testing.T) {
	fake := &queriesFake{rows: 1}
	store := &PostgresReplayStore{DB: fake, Table: "app.used"}
	for range [2]int{} {
		if first, err := store.Consume(context.Background(), "a", time.Now()); !first || err != nil {
			t.Error(first, err)
		}
	}
	if !strings.Contains(fake.texts[0], "DELETE FROM app.used") || strings.Contains(fake.texts[1], "DELETE") {
		t.Error(fake.texts)
	}
	fake.rows = 0
	if again, err := store.Consume(context.Background(), "a", time.Now()); again || err != nil {
		t.Error(again, err)
	}
	fake.err = errors.New("down")
	if _, err := store.Consume(context.Background(), "a", time.Now()); err != fake.err {
		t.Error(err)
	}
	store.Table = "used; DROP TABLE users"
	if _, err := store.Consume(context.Background(), "a", time.Now()); err == nil || err == fake.err {
		t.Error(err)
	}
	if err := store.CreateTable(context.Background()); err == nil || err == fake.err {
		t.Error(err)
	}
}
