/** Functions of the project, by name. */
import type { ReconcileFunction, WebhookProvider } from "denrei";
import { openProject, UsageError } from "denrei/runtime";
import { didYouMean } from "denrei/values";

/** Names of all functions of the project. */
export const functionNames = async (): Promise<readonly string[]> => (await openProject()).functionNames;

/** Returns the name. Throws a {@link UsageError} if no function has it; `others` are further words that the user may enter. */
export async function functionName(name: string, others: readonly string[] = []): Promise<string> {
  const names = await functionNames();
  if (names.includes(name)) return name;
  const words = others.map((word, at) => (at === others.length - 1 ? `or ${word}` : word));
  throw new UsageError(
    `unknown function "${name}"${didYouMean(name, [...names, ...others])}: expected one of ${[...names, ...words].join(", ")}`,
  );
}

/** Checks names of functions and groups, of which `all` stands for every function. Throws a {@link UsageError} for an unknown one. */
export async function checkFunctionNames(
  names: readonly string[],
  others: readonly string[] = ["all"],
): Promise<void> {
  const { groups } = await openProject();
  for (const name of names) if (!others.includes(name) && !groups.has(name)) await functionName(name, others);
}

/** Loads all functions of the project. */
export const allFunctions = async (): Promise<readonly ReconcileFunction[]> => (await openProject()).all();

/** Loads only the named functions, or those of the named groups; `all` selects every function. Throws a {@link UsageError} for an unknown name. */
export async function functionsNamed(
  selected: readonly string[],
  others: readonly string[] = ["all"],
): Promise<ReconcileFunction[]> {
  await checkFunctionNames(selected, others);
  return (await openProject()).load(selected);
}

/** The providers of the webhooks that the project's functions subscribe to, each once. */
export async function webhookProviders(): Promise<readonly WebhookProvider[]> {
  const providers = (await allFunctions()).flatMap(({ webhooks }) =>
    webhooks.map(({ provider }) => provider),
  );
  return [...new Map(providers.map((provider) => [provider.name, provider])).values()];
}
