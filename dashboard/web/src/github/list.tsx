/** The lists of Installations and GitHub Apps. */
import type { ClusterGitHubApp, GitHubApp } from "../../../../functions/ghapp/kinds.ts";
import { useWatch, type Watched } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Head } from "../ui/head.tsx";
import { OutLink } from "../ui/link.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Away, Loaded, Loading } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { ObjectTable } from "../ui/table.tsx";
import { Countdown } from "./countdown.tsx";
import { appPage, repositoriesOf } from "./facts.ts";
import { clusterGitHubApps, gitHubApps, installations } from "./resources.ts";

export function GitHubList() {
  const place = { namespace: namespace.value || undefined };
  const [found, apps, clusterApps] = useWatch(
    [installations, place],
    [gitHubApps, place],
    [clusterGitHubApps, {}],
  );
  return (
    <>
      <Head title="GitHub">
        <a class="button primary" href="/github/new">
          Create an Installation
        </a>
      </Head>
      <div class="stack">
        <Loaded
          watched={found}
          empty={
            <>
              <h2>No Installations here yet</h2>
              <p>
                An Installation keeps a GitHub App's token in a Secret and renews it before it expires. Builds
                read repositories with it.
              </p>
              <a href="/github/new">Create the first one</a>
            </>
          }
        >
          {(items) => (
            <ObjectTable
              objects={items}
              to={({ metadata }) => `/github/${metadata.namespace}/${metadata.name}`}
              columns={[
                ["Health", (installation) => <Health of={installation} />],
                [
                  "App",
                  ({ spec }) => (
                    <span>
                      {spec.appRef.name} <span class="quiet small">installation {spec.installationID}</span>
                    </span>
                  ),
                ],
                ["Repositories", ({ spec }) => repositoriesOf(spec)],
                ["Secret", ({ status }) => status?.secret],
                ["Token expires", ({ status }) => <Countdown to={status?.expiresAt} />],
                ["Next refresh", ({ status }) => <Age of={status?.refreshAt} />],
              ]}
            />
          )}
        </Loaded>
        <Apps title="GitHubApps" watched={apps} none="No GitHubApps here." />
        <Apps
          title="ClusterGitHubApps"
          watched={clusterApps}
          none="No ClusterGitHubApps."
          refused="You cannot list ClusterGitHubApps. An Installation can still use one that allows its namespace: ask a cluster administrator for its name."
        />
      </div>
    </>
  );
}

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
  const { state, items, error } = watched;
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      {state === "away" && <Away message={error?.message} />}
      {state === "loading" ? (
        <Loading />
      ) : state === "refused" ? (
        <p class="quiet">{error?.status === 403 ? refused : `Not available: ${error?.message}`}</p>
      ) : items.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <ObjectTable
          objects={items}
          columns={[
            ["Health", (app) => <Health of={app} />],
            ["App ID", ({ spec }) => <code>{spec.appID}</code>],
            ["At GitHub", ({ spec, status }) => <OutLink to={appPage(spec, status?.slug)} />],
            ["Rules", ({ spec }) => (spec.allowed ? `${spec.allowed.length} in spec.allowed` : "none")],
            ["Created", ({ metadata }) => <Age of={metadata.creationTimestamp} />],
          ]}
        />
      )}
    </section>
  );
}
