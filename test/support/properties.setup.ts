// How long a property may take: a run that hangs names itself, and a failure is reported before the test's own time is up,
// with the smallest counterexample that was found until then.

import { configureGlobal } from "fast-check";

configureGlobal({ timeout: 60_000, interruptAfterTimeLimit: 90_000 });
