/** All screens of the page, each loaded on first use. */
import type { FunctionComponent } from "preact";
import { screenNames } from "./text.ts";
import { lazyScreen } from "./ui/lazyscreen.tsx";

/** A screen. Its component reads path parameters from the router. */
export interface Screen {
  readonly path: string;
  /** Label in the navigation; screens without a name are reached from other screens. */
  readonly name?: string;
  readonly component: FunctionComponent;
}

const screen = (path: string, load: () => Promise<FunctionComponent>, name?: string): Screen => ({
  path,
  component: lazyScreen(load),
  ...(name !== undefined && { name }),
});

/** In navigation order. */
export const screens: readonly Screen[] = [
  screen(
    "/applications",
    async () => (await import("./applications/list.tsx")).ApplicationList,
    screenNames.applications,
  ),
  screen("/applications/new", async () => (await import("./applications/form.tsx")).NewApplication),
  screen(
    "/applications/:namespace/:name/:tab?",
    async () => (await import("./applications/detail.tsx")).ApplicationDetail,
  ),
  screen("/builds", async () => (await import("./builds/list.tsx")).RemoteSyncList, screenNames.builds),
  screen("/builds/new", async () => (await import("./builds/form.tsx")).NewRemoteSync),
  screen(
    "/builds/:namespace/:name/:tab?",
    async () => (await import("./builds/detail.tsx")).RemoteSyncDetail,
  ),
  screen("/previews", async () => (await import("./previews/list.tsx")).PipelineList, screenNames.previews),
  screen("/previews/new", async () => (await import("./previews/form.tsx")).NewPipeline),
  screen(
    "/previews/:namespace/:name/:tab?",
    async () => (await import("./previews/detail.tsx")).PipelineDetail,
  ),
  screen("/github", async () => (await import("./github/list.tsx")).GitHubList, screenNames.github),
  screen("/github/new", async () => (await import("./github/new.tsx")).NewInstallation),
  screen("/github/new-app", async () => (await import("./github/newapp.tsx")).NewGitHubApp),
  screen("/github/app/:namespace/:name", async () => (await import("./github/app.tsx")).GitHubAppScreen),
  screen(
    "/github/app/:namespace/:name/installed",
    async () => (await import("./github/installed.tsx")).GitHubAppInstalled,
  ),
  screen(
    "/github/:namespace/:name",
    async () => (await import("./github/installation.tsx")).InstallationScreen,
  ),
  screen("/pipecd", async () => (await import("./pipecd/list.tsx")).PipecdList, screenNames.pipecd),
  screen("/pipecd/:kind/:namespace/:name", async () => (await import("./pipecd/object.tsx")).PipecdObject),
  screen("/zundoko", async () => (await import("./zundoko/list.tsx")).HikawaList, screenNames.zundoko),
  screen("/zundoko/new", async () => (await import("./zundoko/new.tsx")).NewHikawa),
  screen("/zundoko/:namespace/:name", async () => (await import("./zundoko/song.tsx")).Song),
  screen("/bus", async () => (await import("./bus/overview.tsx")).BusOverview, screenNames.bus),
  screen("/bus/deadletters", async () => (await import("./bus/deadletters/list.tsx")).DeadLetters),
  screen(
    "/bus/deadletters/:function/:namespace/:name",
    async () => (await import("./bus/deadletters/detail.tsx")).DeadLetterScreen,
  ),
  screen("/bus/history", async () => (await import("./bus/history/history.tsx")).HistoryScreen),
  screen("/bus/causality", async () => (await import("./bus/causality/screen.tsx")).CausalityScreen),
  screen("/bus/functions/:name", async () => (await import("./bus/function/screen.tsx")).FunctionScreen),
  screen("/bus/runbooks/:runbook?", async () => (await import("./bus/runbook/screen.tsx")).RunbookScreen),
  screen("/bus/:rest+", async () => (await import("./bus/notfound.tsx")).BusNotFound),
];
