package countersign

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// redisPrefix and usedTable are the same in the SDKs for other languages, which may share a store.
const (
	redisPrefix = "countersign:used:"
	usedTable   = "countersign_used_verdicts"
)

// RedisReplayStore remembers used verdicts in Redis, with SET … NX PX. Make it with NewRedisReplayStore. Where Redis does not answer,
// VerifyVerdict fails.
type RedisReplayStore struct {
	// Prefix is what each key begins with; default countersign:used:.
	Prefix string

	setNX func(ctx context.Context, key string, left time.Duration) (bool, error)
}

// NewRedisReplayStore takes a client of go-redis: NewRedisReplayStore[*redis.BoolCmd](client).
func NewRedisReplayStore[C interface{ Result() (bool, error) }](client interface {
	SetNX(ctx context.Context, key string, value interface{}, expiration time.Duration) C
}) *RedisReplayStore {
	return &RedisReplayStore{setNX: func(ctx context.Context, key string, left time.Duration) (bool, error) {
		return client.SetNX(ctx, key, "1", left).Result()
	}}
}

// Consume implements ReplayStore.
func (s *RedisReplayStore) Consume(ctx context.Context, jti string, expiresAt time.Time) (bool, error) {
	left := time.Until(expiresAt)
	if left < time.Millisecond {
		left = time.Millisecond
	}
	return s.setNX(ctx, orDefault(s.Prefix, redisPrefix)+jti, left)
}

// Queries is what PostgresReplayStore needs of a *sql.DB, *sql.Conn or *sql.Tx.
type Queries interface {
	ExecContext(ctx context.Context, query string, args ...interface{}) (sql.Result, error)
}

// PostgresReplayStore remembers used verdicts in a table of PostgreSQL, with INSERT … ON CONFLICT DO NOTHING. Expired rows are deleted
// once a minute. Where PostgreSQL does not answer, VerifyVerdict fails.
type PostgresReplayStore struct {
	// DB is a *sql.DB with the driver of pgx (a pool by stdlib.OpenDBFromPool) or lib/pq. With a *sql.Tx, the verdict is used up when
	// the transaction commits.
	DB Queries
	// Table is its name, with a schema where you like; default countersign_used_verdicts.
	Table string

	lock      sync.Mutex
	nextSweep time.Time
}

var tableName = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$`)

// CreateTable creates the table where there is none: jti text PRIMARY KEY, expires_at timestamptz NOT NULL.
func (s *PostgresReplayStore) CreateTable(ctx context.Context) error {
	table, err := s.table()
	if err != nil {
		return err
	}
	_, err = s.DB.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+table+" (jti text PRIMARY KEY, expires_at timestamptz NOT NULL)")
	return err
}

// Consume implements ReplayStore.
func (s *PostgresReplayStore) Consume(ctx context.Context, jti string, expiresAt time.Time) (bool, error) {
	table, err := s.table()
	if err != nil {
		return false, err
	}
	insert := "INSERT INTO " + table + " (jti, expires_at) VALUES ($1, $2) ON CONFLICT (jti) DO NOTHING"
	if s.isSweepDue() {
		// It waits for no other process that does the same.
		insert = "WITH expired AS (SELECT jti FROM " + table + " WHERE expires_at < now() LIMIT 10000 FOR UPDATE SKIP LOCKED), " +
			"swept AS (DELETE FROM " + table + " WHERE jti IN (SELECT jti FROM expired)) " + insert
	}
	result, err := s.DB.ExecContext(ctx, insert, jti, expiresAt)
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows == 1, err
}

func (s *PostgresReplayStore) table() (string, error) {
	table := orDefault(s.Table, usedTable)
	if !tableName.MatchString(table) {
		return "", fmt.Errorf("countersign: Table is %s, which would need quotes in SQL", table)
	}
	return table, nil
}

func (s *PostgresReplayStore) isSweepDue() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	now := time.Now()
	if now.Before(s.nextSweep) {
		return false
	}
	s.nextSweep = now.Add(sweepEvery)
	return true
}
