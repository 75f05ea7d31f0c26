/** Advice for errors of GitHub. */

/** An answer with an error code. */
export interface RefusedAnswer {
  /** The request with its user and server: the start of the message. */
  readonly request: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** The parsed body, or its text if it is not JSON. */
  readonly body: unknown;
}

/** With a larger difference to GitHub's clock, JWTs are or soon will be invalid. Milliseconds. */
const tolerableSkewMillis = 30_000;

/** Whether a request, as errors show it, concerns a repository. */
export const isAboutRepository = (request: string): boolean => /^\S+ \/repos\//.test(request);

/** The end of an error message: a full stop, and what to check. */
export const advice = (answer: RefusedAnswer): string =>
  isAboutRepository(answer.request) ? forToken(answer) : forApp(answer);

function forApp({ request, status, headers }: RefusedAnswer): string {
  switch (status) {
    case 401: {
      const skew = Date.now() - Date.parse(String(headers.date));
      const clock =
        Math.abs(skew) > tolerableSkewMillis
          ? `set the clock here, which is about ${Math.ceil(Math.abs(skew) / 60_000)} min ${skew > 0 ? "ahead of" : "behind"} GitHub's`
          : "that the clock here is right";
      return `. Check that the private key belongs to this App: its page shows the fingerprints of its keys; and ${clock}.`;
    }
    case 403:
      return ". Check that the App has the permission for it and that the installation is not suspended.";
    case 404:
      return request.includes("/app/installations/")
        ? ". The App is not installed there (any more), or the installation belongs to another App: check appID and installationID."
        : request.includes("/app/hook/")
          ? ". GitHub keeps deliveries for a few days only."
          : ". GitHub has no App with this ID: check appID and url.";
    case 422:
      return ". The installation lacks a requested permission or repository: request fewer, or have its owner grant them on its page at GitHub. Name a renamed repository by its new name, or by its ID.";
    default:
      return ".";
  }
}

function forToken({ request, status, headers }: RefusedAnswer): string {
  switch (status) {
    case 401:
      return ". The token has expired or was revoked: check its Secret, and whether its Installation is Ready.";
    case 403:
      return (
        `. The token needs ${neededFor(request, headers)}: check \`permissions\` of the Installation, that the App has them, ` +
        "and that it is not suspended there."
      );
    case 404:
      return /^\S+ \/repos\/[^/ ]+\/[^/ ]+ /.test(request)
        ? `. The repository does not exist, or the token cannot see it: ${whatToCheck}.`
        : `. The repository has no such object, or does not exist, or the token cannot see it: ${whatToCheck}.`;
    case 422:
      return ". GitHub rejected the request: check that its commit, branch, and URLs exist.";
    default:
      return ".";
  }
}

const whatToCheck = "check owner and name, and `repositories` and `permissions` of the Installation";

/** Paths below a repository, and the permissions of which one is required. */
const needed: readonly (readonly [RegExp, string])[] = [
  [/\/statuses\//, "`statuses: write`"],
  [/\/deployments/, "`deployments: write`"],
  [/^GET .*\/issues\//, "`pull_requests: read` or `issues: read`"],
  [/\/issues\//, "`pull_requests: write` or `issues: write`"],
  [/\/pulls/, "`pull_requests: read`"],
  [/\/branches\//, "`contents: read`"],
];

/**
 * GitHub lists the accepted permissions: those joined by commas are all needed, and semicolons separate alternatives.
 * https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#insufficient-permissions
 */
function neededFor(request: string, headers: RefusedAnswer["headers"]): string {
  const accepted = String(headers["x-accepted-github-permissions"] ?? "");
  if (/^[\w=,; ]+$/.test(accepted)) {
    return accepted
      .split(";")
      .map((all) =>
        all
          .split(",")
          .map((one) => `\`${one.trim().replace("=", ": ")}\``)
          .join(" and "),
      )
      .join(" or ");
  }
  const path = request.replace(/^(\S+ )\/repos\/[^/]+\/[^/ ]+(\S*) .*$/, "$1$2");
  return needed.find(([pattern]) => pattern.test(path))?.[1] ?? "`metadata: read`";
}
