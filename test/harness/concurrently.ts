/** Handles all elements of a list, at most `limit` at a time, in the order of the list. */
export async function concurrently<T>(
  list: readonly T[],
  limit: number,
  handle: (element: T) => Promise<unknown>,
): Promise<void> {
  const left = list.values();
  const handleNext = async (): Promise<void> => {
    for (const element of left) await handle(element);
  };
  await Promise.all(Array.from({ length: limit }, handleNext));
}
