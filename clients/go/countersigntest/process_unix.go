//go:build unix

package countersigntest

import (
	"os/exec"
	"syscall"
)

// ownGroup makes one for the process, because npx starts the service as a further process.
func ownGroup(process *exec.Cmd) {
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func end(process *exec.Cmd) {
	_ = syscall.Kill(-process.Process.Pid, syscall.SIGTERM)
}
