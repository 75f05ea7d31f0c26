/** The lists of Installations and GitHub Apps. */
import type { ClusterGitHubApp, GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import type { Stored } from "denrei/kinds";
import { useWatch, type Watched } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { OutLink } from "../ui/link.tsx";
import { ListScreen, type ListSearch, type ListText } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { timeValue } from "../ui/sort.ts";
import { Loading, Staleness } from "../ui/states.tsx";
import { type Column, createdColumn, healthColumn, ObjectTable } from "../ui/table.tsx";
import { Countdown } from "./countdown.tsx";
import { appPage, repositoriesOf } from "./facts.ts";
import { clusterGitHubApps, gitHubApps, installations } from "./resources.ts";

const text: ListText = {
  title: "GitHub",
  create: "Create an Installation",
  none: "No Installations here yet",
  about:
    "An Installation keeps a GitHub App's token in a Secret and renews it before it expires. Builds read repositories with it.",
  createFirst: "Create the first one",
};

const search: ListSearch<Installation> = {
  kinds: "Installations",
  textsOf: ({ spec, status }) => [
    spec.appRef.name,
    spec.installationID,
    repositoriesOf(spec),
    status?.secret,
  ],
};

const columns: readonly Column<Stored<Installation>>[] = [
  healthColumn,
  [
    "App",
    ({ spec }) => (
      <span>
        {spec.appRef.name} <span class="quiet small">installation {spec.installationID}</span>
      </span>
    ),
    "text",
    ({ spec }) => spec.appRef.name,
  ],
  ["Repositories", ({ spec }) => repositoriesOf(spec), "text", ({ spec }) => repositoriesOf(spec)],
  ["Secret", ({ status }) => status?.secret, "text", ({ status }) => status?.secret],
  [
    "Token expires",
    ({ status }) => (
      <span>
        <Countdown to={status?.expiresAt} />
        {status?.refreshAt && (
          <span class="quiet small">
            {" "}
            next refresh <Age of={status.refreshAt} />
          </span>
        )}
      </span>
    ),
    "text",
    ({ status }) => timeValue(status?.expiresAt),
  ],
];

export function GitHubList() {
  const scope = { namespace: namespace.value || undefined };
  const [watched, apps, clusterApps] = useWatch(
    [installations, scope],
    [gitHubApps, scope],
    [clusterGitHubApps, {}],
  );
  return (
    <ListScreen
      path="/github"
      resource={installations}
      text={text}
      watched={watched}
      columns={columns}
      search={search}
    >
      <Apps title="GitHubApps" watched={apps} none="No GitHubApps here." />
      <Apps
        title="ClusterGitHubApps"
        watched={clusterApps}
        none="No ClusterGitHubApps."
        refused="You cannot list ClusterGitHubApps. An Installation can still use one that allows its namespace: ask a cluster administrator for its name."
      />
    </ListScreen>
  );
}

const appColumns: readonly Column<Stored<GitHubApp | ClusterGitHubApp>>[] = [
  healthColumn,
  ["App ID", ({ spec }) => <code>{spec.appID}</code>, "text", ({ spec }) => spec.appID],
  ["On GitHub", ({ spec, status }) => <OutLink to={appPage(spec, status?.slug)} />],
  ["Rules", ({ spec }) => (spec.allowed ? `${spec.allowed.length} in spec.allowed` : "none")],
  createdColumn,
];

/** Apps are secondary on this screen, so a missing permission is one line. */
function Apps({
  title,
  watched,
  none,
  refused = "You cannot list them.",
}: {
  title: string;
  watched: Watched<GitHubApp | ClusterGitHubApp>;
  none: string;
  refused?: string;
}) {
  const { state, items, asOf, error } = watched;
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      <Staleness of={watched} />
      {state === "refused" ? (
        <p class="quiet">{error?.status === 403 ? refused : `Not available: ${error?.message}`}</p>
      ) : asOf === undefined ? (
        state === "loading" && <Loading />
      ) : items.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <ObjectTable objects={items} columns={appColumns} sortParameter={`sort-${title.toLowerCase()}`} />
      )}
    </section>
  );
}
