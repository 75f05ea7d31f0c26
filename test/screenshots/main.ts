/** `npm run screenshots -- <folder>`: runs the demo `dashboard` and takes a picture of each of its screens. */
import { resolve } from "node:path";
import { Command } from "commander";
import { say, watchOutput } from "../../bus/command/output.ts";
import { demo } from "../../deploy/cli/demo/demo.ts";
import { takeScreenshots } from "./screens.ts";

const [folder = ""] = new Command("screenshots")
  .description("take pictures of all screens of the dashboard, from the demo `dashboard`")
  .argument("[folder]", "where to put the pictures", "screenshots")
  .parse().processedArgs as string[];

watchOutput();
await demo({
  mode: "demo",
  name: "dashboard",
  async onShown({ dashboard, namespace, github }) {
    const [user] = dashboard.users;
    if (user === undefined) throw new Error("the dashboard has no user who can log in");
    const shown = { url: dashboard.url, namespace, github: github.login, user };
    const pictures = await takeScreenshots(shown, resolve(folder));
    say(`took ${pictures.length} pictures: ${pictures.join(", ")}`);
  },
});
