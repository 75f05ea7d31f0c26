/** `npm run test:node [-- <vitest's options>]`: the tests with real pods, where a node can be started. */

import { render } from "../../deploy/helm/kustomize.ts";
import { enter } from "../../deploy/local/node/enter.ts";
import { overlay } from "./overlay.ts";

// Inside there is no way to get a kustomize.
await render(overlay);
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/node/vitest.config.ts"];
process.exitCode = await enter([process.execPath, ...vitest, ...process.argv.slice(2)]);
