/** The lists of Installations and GitHub Apps. */
import type { ClusterGitHubApp, GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import type { Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import { creating } from "../api/access.ts";
import { useWatch, type Watched } from "../api/watch.ts";
import { ActionLink } from "../ui/actionbutton.tsx";
import { Age } from "../ui/age.tsx";
import { Details } from "../ui/details.tsx";
import { OutLink } from "../ui/link.tsx";
import { ListScreen, type ListSearch } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { timeValue } from "../ui/sort.ts";
import { Loading, Staleness } from "../ui/states.tsx";
import { type Column, createdColumn, healthColumn, ObjectTable } from "../ui/table.tsx";
import { Countdown } from "./countdown.tsx";
import { appPage, repositoriesOf } from "./facts.ts";
import { clusterGitHubApps, gitHubApps, installations } from "./resources.ts";
import { listText as text } from "./text.ts";

const search: ListSearch<Installation> = {
  kinds: text.kinds,
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
    text.columns.app,
    ({ spec }) => (
      <span>
        {spec.appRef.name} <span class="quiet small">{text.installation(spec.installationID)}</span>
      </span>
    ),
    "text",
    ({ spec }) => spec.appRef.name,
  ],
  [text.columns.repositories, ({ spec }) => repositoriesOf(spec), "text", ({ spec }) => repositoriesOf(spec)],
  [text.columns.secret, ({ status }) => status?.secret, "text", ({ status }) => status?.secret],
  [
    text.columns.expires,
    ({ status }) => (
      <span>
        <Countdown to={status?.expiresAt} />
        {status?.refreshAt && (
          <span class="quiet small">
            {" "}
            {text.nextRefresh} <Age of={status.refreshAt} />
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
      heading={text.kinds}
    >
      <Apps text={text.apps} watched={apps} to={appScreen}>
        <ActionLink needs={creating(gitHubApps, namespace.value)} to="/github/new-app" class="button">
          {text.apps.create}
        </ActionLink>
      </Apps>
      <Apps text={text.clusterApps} watched={clusterApps} />
    </ListScreen>
  );
}

const appScreen = ({ metadata }: Stored<GitHubApp | ClusterGitHubApp>): string =>
  `/github/app/${metadata.namespace}/${metadata.name}`;

const appColumns: readonly Column<Stored<GitHubApp | ClusterGitHubApp>>[] = [
  healthColumn,
  [text.columns.appId, ({ spec }) => <code>{spec.appID}</code>, "text", ({ spec }) => spec.appID],
  [text.columns.onGitHub, ({ spec, status }) => <OutLink to={appPage(spec, status?.slug)} />],
  [text.columns.rules, ({ spec }) => (spec.allowed ? text.rules(spec.allowed.length) : text.noRules)],
  createdColumn,
];

/** Apps are secondary on this screen, so a missing permission is one line. */
function Refused({ text: sentence, message }: { text: string; message: string }) {
  return (
    <>
      <p class="quiet">{sentence}</p>
      <Details message={message} />
    </>
  );
}

function Apps({
  text: { title, none, refused },
  watched,
  to,
  children,
}: {
  text: { readonly title: string; readonly none: string; readonly refused: string };
  watched: Watched<GitHubApp | ClusterGitHubApp>;
  /** The address of an App's screen. */
  to?: (app: Stored<GitHubApp | ClusterGitHubApp>) => string;
  /** Buttons. */
  children?: ComponentChildren;
}) {
  const { state, items, asOf, error } = watched;
  return (
    <section class="stack" aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        {children}
      </header>
      <Staleness of={watched} />
      {state === "refused" ? (
        <Refused text={error?.status === 403 ? refused : text.notAvailable} message={error?.message ?? ""} />
      ) : asOf === undefined ? (
        state === "loading" && <Loading />
      ) : items.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <ObjectTable
          objects={items}
          columns={appColumns}
          sortParameter={`sort-${title.toLowerCase()}`}
          {...(to && { to })}
        />
      )}
    </section>
  );
}
