package countersign

import (
	"context"
	"sync"
	"time"
)

// ReplayStore remembers which verdicts were used, so that a verdict approves one action only. Several processes must share a
// store, such as RedisReplayStore or PostgresReplayStore.
type ReplayStore interface {
	// Consume marks a verdict as used, atomically; false when it was used before. It may be forgotten after expiresAt, when the
	// JWT is refused anyway.
	Consume(ctx context.Context, jti string, expiresAt time.Time) (bool, error)
}

const sweepEvery = time.Minute

// MemoryReplayStore is a store for one process. Its zero value is ready for use.
type MemoryReplayStore struct {
	// Now defaults to time.Now.
	Now func() time.Time

	lock      sync.Mutex
	used      map[string]time.Time
	nextSweep time.Time
}

// Consume implements ReplayStore.
func (s *MemoryReplayStore) Consume(_ context.Context, jti string, expiresAt time.Time) (bool, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	now := time.Now()
	if s.Now != nil {
		now = s.Now()
	}
	if s.used == nil {
		s.used = map[string]time.Time{}
	}
	if !now.Before(s.nextSweep) {
		s.nextSweep = now.Add(sweepEvery)
		for used, until := range s.used {
			if until.Before(now) {
				delete(s.used, used)
			}
		}
	}
	if _, isUsed := s.used[jti]; isUsed {
		return false, nil
	}
	s.used[jti] = expiresAt
	return true, nil
}
