import { operationKey, type Observation, type Operation } from "./observation.ts";

/** One poll under way, from the wait for a slot on. */
export interface Flight {
  /** When it was due, monotonic. */
  readonly dueMs: number;
  /** Whether what it yields is observed; one that was only asked for is, as soon as it is due as well. */
  isObserved: boolean;
  /** What it yields; nothing where its appliance or its website was taken away meanwhile. */
  readonly result: Landing;
}

export type Landing = Promise<Observation | undefined>;

/** The polls of one appliance that are under way, one for each operation. */
export interface Flights {
  get(operation: Operation): Flight | undefined;
  /** Begins a poll of an operation that has none under way. */
  begin(operation: Operation, as: Omit<Flight, "result">, poll: (flight: Flight) => Landing): Flight;
}

const NOTHING: Landing = Promise.resolve(undefined);

export function createFlights(): Flights {
  const inFlight = new Map<string, Flight>();
  return {
    get: (operation) => inFlight.get(operationKey(operation)),
    begin: (operation, as, poll) => {
      const key = operationKey(operation);
      const flight = { ...as, result: NOTHING };
      inFlight.set(key, flight);
      flight.result = poll(flight).finally(() => inFlight.delete(key));
      return flight;
    },
  };
}
