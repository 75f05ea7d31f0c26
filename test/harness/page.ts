/** Before any test: the page is built, and there is a browser to look at it with. */
import { buildPage } from "../../dashboard/web/build.ts";
import { installChromium } from "./chromium.ts";

export default async function setup(): Promise<void> {
  await Promise.all([buildPage(), installChromium()]);
}
