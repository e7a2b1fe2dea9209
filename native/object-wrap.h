/**
 * Included before everything else when SQLite's binding is compiled. Since Node 24.19 each node::ObjectWrap takes itself off a list
 * of the environment when it is collected, and the process aborts where the collector runs outside JavaScript, as it does when
 * idle: there is no environment then. These overloads, whose last parameter fits better, keep such objects off the list, as
 * they were before. Bindings on Node-API need none of it.
 */
#ifndef COUNTERSIGN_OBJECT_WRAP_H_
#define COUNTERSIGN_OBJECT_WRAP_H_

#include <node.h>

namespace node {

class ObjectWrap;

inline void AddEnvironmentCleanupHook(v8::Isolate*, void (*)(void*), ObjectWrap*) {}
inline void RemoveEnvironmentCleanupHook(v8::Isolate*, void (*)(void*), ObjectWrap*) {}

}  // namespace node

#endif  // COUNTERSIGN_OBJECT_WRAP_H_
