import { caught } from "./caught.js";
import { conflicts } from "./conflicts.js";
import { keys, second } from "./keys.js";
import { broken, empty, live } from "./live.js";
import { furnish, looks } from "./looks.js";
import { matching } from "./matching.js";
import { mending } from "./mending.js";
import { reach } from "./reach.js";
import { scene } from "./scene.js";
import { scriptless } from "./scriptless.js";
import { speed } from "./speed.js";
import { zones } from "./zones.js";

// One Wakecall and one browser for all: each costs seconds to start.
const shared = scene({ key: "the key of these tests" });

caught(shared);
empty(shared);
furnish(shared);
looks(shared);
second(shared);
live(shared);
zones(shared);
keys(shared);
mending(shared);
conflicts(shared);
matching(shared);
reach(shared);
scriptless(shared);
speed(shared);
broken(shared);
