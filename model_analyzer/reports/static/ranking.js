// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// Ranks the measurements of a model at another limit or by another objective. These are the rules of
// results/ranking.py and noise/ties.py, with their numbers; the cases in tests/golden/budget hold
// for both. `reports/alternatives.py` describes the data.
"use strict";
const ranking = (() => {
  const {
    DEVIATIONS, MOST, PRICES, LATENCY, AS_SURE, ALLOWED, CAUTION, SAFE, LEAST_NOISE, OUTLYING,
    MOST_FROM_WINDOWS, USUAL_FREEDOM, NO_GAIN, CLOSEST,
  } = dom.data("instruments").rules;

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  /** The probability that a standard normal number is below `x`. */
  function normal(x) {
    const z = Math.abs(x) / Math.SQRT2;
    const t = 1 / (1 + 0.5 * z);
    // Chebyshev fit of the complementary error function; relative error below 1.2e-7
    const terms = [
      -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
      1.48851587, -0.82215223, 0.17087277,
    ];
    const tail = 0.5 * t * Math.exp(-z * z + terms.reduceRight((total, term) => total * t + term, 0));
    return x > 0 ? 1 - tail : tail;
  }

  /** Noises of [squares, degrees of freedom] as one: [error, degrees of freedom], or null. */
  function pooled(noises) {
    const squares = sum(noises.map((noise) => noise[0]));
    const freedom = sum(noises.map((noise) => noise[1]));
    return freedom ? [Math.sqrt(squares / freedom), freedom] : null;
  }

  const worth = ([error, freedom], most) => {
    const kept = Math.max(0, Math.min(freedom, most));
    return [error ** 2 * kept, kept];
  };

  /** The values of a tag, by row; null where it was not measured. */
  function values(data, tag) {
    const column = measurements.columns.find(({ key }) => key === tag);
    return column ? (row) => column.valueOf(data.start + row) ?? null : () => null;
  }

  /** A ranking of `data` by one of its choices of objectives: functions of rows and of a limit. */
  function create(data, choice) {
    const count = sum(data.counts);
    const variantOf = data.counts.flatMap((rows, variant) => Array(rows).fill(variant));
    const entry = (numbers, row) => (Array.isArray(numbers) ? numbers[row] : numbers);
    const { objectives, better } = choice;
    const weights = sum(objectives.map(([, weight]) => weight));
    const objectiveValues = objectives.map(([tag]) => values(data, tag));
    const over = values(data, data.limit);
    const latency = values(data, LATENCY);
    const others = data.constraints.map(([tag, minimum, maximum]) => ({ tag, minimum, maximum, valueOf: values(data, tag) }));
    const isRound = (row) => row in data.errors[data.limit];
    const isThroughput = objectives.every(([tag]) => tag === "perf_throughput");
    const times = (row) => (data.runs[row] ? data.runs[row][data.limit].length : 1);
    const isDefault = (row) => data.defaults[variantOf[row]];
    const content = (row) => data.contents[variantOf[row]];

    // ------------------------------------------------------------------ goal

    const constraintsAt = (limit) => [{ tag: data.limit, minimum: null, maximum: limit, valueOf: over }, ...others];

    function margin({ minimum, maximum }, value) {
      const above = minimum === null ? Infinity : (value - minimum) / Math.abs(minimum || 1);
      const below = maximum === null ? Infinity : (maximum - value) / Math.abs(maximum || 1);
      return Math.min(above, below);
    }

    /** By how much values (by constraint) miss the constraints; 0 if they meet them. */
    function shortfall(constraints, valuesOf) {
      let total = 0;
      for (const constraint of constraints) {
        const value = valuesOf(constraint);
        if (value !== null && value !== undefined) total += Math.max(0, -margin(constraint, value)) * 100;
      }
      return total;
    }

    /** How much better values are than others, both by objective. */
    function scoreOf(news, olds) {
      let [score, known] = [0, 0];
      for (let place = 0; place < objectives.length; place++) {
        const [now, old] = [news[place], olds[place]];
        if (now === null && old === null) continue;
        if (old === null) return 1;
        if (now === null) return -1;
        const weight = objectives[place][1];
        known += weight;
        if (now !== old) score += weight * 2 * better[place] * (now - old) / (Math.abs(now) + Math.abs(old));
      }
      return known ? score / known : 0;
    }

    // by how much rows miss the constraints that no limit changes
    const missedOthers = new Float64Array(count);
    if (others.length) {
      for (let row = 0; row < count; row++) missedOthers[row] = shortfall(others, ({ valueOf }) => valueOf(row));
    }

    const valuesAt = (row) => objectiveValues.map((valueOf) => valueOf(row));
    const score = (a, b) => scoreOf(valuesAt(a), valuesAt(b));

    function gainPercent(a, b) {
      let [gain, known] = [0, 0];
      objectives.forEach(([, weight], place) => {
        const [now, old] = [objectiveValues[place](a), objectiveValues[place](b)];
        if (now === null && old === null) return;
        known += weight;
        if (now === null || old === null) gain += weight * (old === null ? 100 : -100);
        else if (now !== old) {
          const base = better[place] > 0 ? old : now;
          gain += weight * better[place] * (now - old) / (base || 1) * 100;
        }
      });
      return known ? gain / known : 0;
    }

    // the rows that lack a metric of a constraint that no limit changes
    const lacksOthers = Array.from({ length: count }, (_, row) => others.some(({ valueOf }) => valueOf(row) === null));

    // rows by merit: the limit decides only which of them count
    const byMerit = Array.from({ length: count }, (_, row) => row).sort((a, b) => score(b, a) || a - b);

    /** The best rows: those that meet the constraints first, then those that lack a metric of one, then
        the nearest to them. */
    function closest(missed, lacks) {
      const rows = [];
      for (const isUnknown of [false, true]) {
        for (const row of byMerit) {
          if (missed[row] === 0 && lacks(row) === isUnknown) rows.push(row);
          if (rows.length === CLOSEST) return rows;
        }
      }
      // to sort rows takes many times as long as to sort their numbers
      const places = CLOSEST - rows.length;
      const most = missed.filter((value) => value > 0).sort()[places - 1] ?? Infinity;
      const missing = byMerit.filter((row) => missed[row] > 0 && missed[row] <= most);
      missing.sort((a, b) => missed[a] - missed[b]); // stable: equals stay in the order of merit
      return [...rows, ...missing.slice(0, places)];
    }

    // ------------------------------------------------------------------ noise

    const mean = (list) => sum(list) / list.length;

    /** The spread of repeated values around their mean, as squares and degrees of freedom. */
    function spread(list) {
      const present = list.filter((value) => value !== null);
      if (present.length < 2 || mean(present) <= 0) return null;
      const middle = mean(present);
      return [sum(present.map((value) => (value / middle - 1) ** 2)), present.length - 1];
    }

    /** The standard deviation of the score of one measurement; null if unknown. */
    function scoreNoise(rows) {
      const once = rows.filter((row) => !isRound(row));
      const windows = isThroughput ? pooled(once.map(windowsOf)) : null;
      const repeated = once.filter((row) => times(row) > 1).map((row) => {
        const lists = objectives.map(([tag]) => data.runs[row][tag]);
        const middle = valuesAt(row);
        const squares = sum(lists[0].map((_, run) => scoreOf(lists.map((list) => list[run]), middle) ** 2));
        return [squares, times(row) - 1];
      });
      const sources = repeated.map(([squares, freedom]) => [Math.sqrt(squares / freedom), freedom]);
      if (windows) sources.unshift(repeated.length ? [windows[0], Math.min(windows[1], MOST_FROM_WINDOWS)] : windows);
      if (!sources.length) return null;
      const errors = sources.map(([error]) => error).sort((a, b) => a - b);
      const most = OUTLYING * Math.max(errors[Math.floor((errors.length - 1) / 2)], LEAST_NOISE);
      return pooled(sources.map(([error, freedom]) => [Math.min(error, most) ** 2 * freedom, freedom]))[0];
    }

    const windowsOf = (row) => [entry(data.windows[0], row), entry(data.windows[1], row)];

    /** The standard error of a metric of a row; `rows` are all whose noise counts. */
    function expectedErrors(rows) {
      const known = new Map();
      const once = rows.filter((row) => !isRound(row));
      function deviation(tag) {
        if (known.has(tag)) return known.get(tag);
        const repetitions = pooled(once.filter((row) => times(row) > 1).map((row) => spread(data.runs[row][tag])).filter(Boolean));
        const windows = tag === "perf_throughput" ? pooled(once.map(windowsOf)) : null;
        let measured = windows;
        if (repetitions) measured = pooled([worth(repetitions, Infinity), windows ? worth(windows, MOST_FROM_WINDOWS) : [0, 0]]);
        const usual = data.usual[tag] ** 2 * USUAL_FREEDOM;
        known.set(tag, pooled([[usual, USUAL_FREEDOM], measured ? worth(measured, Infinity) : [0, 0]])[0]);
        return known.get(tag);
      }
      return (row, tag) => {
        const root = Math.sqrt(times(row));
        return isRound(row) ? data.errors[tag][row] ?? data.usual[tag] / root : deviation(tag) / root;
      };
    }

    // ------------------------------------------------------------------ ties

    function comparisonOf(rows) {
      const noise = scoreNoise(rows);
      const errors = new Map();
      function error(row) {
        if (!errors.has(row)) errors.set(row, errorOf(row));
        return errors.get(row);
      }
      function errorOf(row) {
        const root = Math.sqrt(times(row));
        let error = noise === null ? null : noise / root;
        if (isRound(row)) {
          const parts = objectives.filter((_, place) => objectiveValues[place](row) !== null)
            .map(([tag, weight]) => [weight / weights, data.errors[tag][row] ?? null]);
          error = parts.length && parts.every(([, own]) => own !== null)
            ? Math.sqrt(sum(parts.map(([share, own]) => (share * own) ** 2))) : null;
        }
        return error === null ? null : Math.max(error, LEAST_NOISE / root);
      }
      const apart = (a, b) => (error(a) === null || error(b) === null
        ? 0 : Math.max(DEVIATIONS * Math.hypot(error(a), error(b)), MOST));
      function isFarBetter(a, b) {
        const [first, second] = [a, b].map((row) => Math.max(error(row) ?? 0, LEAST_NOISE) * Math.sqrt(times(row)));
        return score(a, b) > Math.max(DEVIATIONS * Math.hypot(first, second), MOST);
      }
      return {
        knowsNoise: noise !== null || rows.some(isRound),
        error, apart, isFarBetter,
        isBetter: (a, b) => score(a, b) > apart(a, b),
      };
    }

    /** The part of the score that a much shorter latency is worth. */
    function price(slow, fast) {
      const [long, short] = [latency(slow), latency(fast)];
      if (long === null || short === null) return MOST;
      const part = short / Math.max(long, 1e-9);
      const [, allowed] = PRICES.find(([most]) => part <= most) ?? [0, MOST];
      return allowed;
    }

    function undefeated(comparison, rows, counts) {
      const [unbeaten, seen] = [[], []];
      for (const row of rows) {
        const beating = seen.filter((other) => counts(other) && comparison.isBetter(other, row));
        if (beating.some((other) => comparison.isFarBetter(other, row))) break;
        if (!beating.length) unbeaten.push(row);
        seen.push(row);
      }
      return unbeaten;
    }

    function assuredFirst(comparison, rows, sure) {
      if (!comparison.knowsNoise) return rows;
      const merit = (row) => sure(row) ** CAUTION * Math.exp(score(row, rows[0]));
      const top = (list) => list.reduce((best, row) => (merit(row) > merit(best) ? row : best));
      const best = top(rows);
      return [best, ...rows.filter((row) => row !== best)];
    }

    function tied(comparison, [first, ...rows], met) {
      if (!comparison.knowsNoise) return [first];
      const least = met(first) - AS_SURE;
      return [first, ...rows.filter((row) => {
        const difference = Math.abs(score(first, row));
        return difference <= comparison.apart(first, row) && difference <= price(first, row) && met(row) >= least;
      })];
    }

    const memoryOf = (row) => data.memory.map((numbers) => entry(numbers, row));

    function compareLists(a, b) {
      const place = a.findIndex((value, index) => value !== b[index]);
      return place < 0 ? 0 : a[place] - b[place];
    }

    function cheapestFirst(rows) {
      const memory = new Map();
      for (const row of rows) {
        const least = memory.get(content(row));
        if (!least || compareLists(memoryOf(row), least) < 0) memory.set(content(row), memoryOf(row));
      }
      const costOf = (row) => [
        ...memory.get(content(row)), data.instances[variantOf[row]], entry(data.loads, row),
      ];
      return [...rows].sort((a, b) => compareLists(costOf(a), costOf(b)));
    }

    /** The first row, unless one of the others (best first) is better in everything: then that one. */
    function undominated(first, others, constraints, met) {
      const costOf = (row) => [...memoryOf(row), data.instances[variantOf[row]], entry(data.loads, row)];
      const margins = (row) => [...marginsOf(constraints, row).values()];
      const isBetter = (row) => {
        // of the same variant, memory differs by chance only
        const skipped = content(row) === content(first) ? memoryOf(row).length : 0;
        const [costs, least] = [costOf(first), margins(first)];
        return score(row, first) > 0
          && margins(row).every((own, place) => own >= least[place])
          && costOf(row).slice(skipped).every((own, place) => own <= costs[skipped + place])
          && met(row) >= met(first);
      };
      return others.find(isBetter) ?? first;
    }

    // ------------------------------------------------------------------ the default

    function needsMore(row, than) {
      const resources = (each) => [...memoryOf(each), data.instances[variantOf[each]]];
      return content(row) !== content(than) && compareLists(resources(row), resources(than)) > 0;
    }

    function isEnough(row, best, missed, lacks, mostLead) {
      const gain = gainPercent(best, row);
      const standing = (each) => (missed[each] === 0 ? lacks(each) : null);
      return standing(row) === standing(best) && missed[row] <= missed[best] && -mostLead < gain && gain < NO_GAIN
        && !needsMore(row, best) && !(price(row, best) > MOST);
    }

    /** The default first, if the gain over it is negligible. */
    function defaultFirst(best, ties, missed, lacks) {
      if (isDefault(best)) return { best, ties };
      let own = ties.find((row) => isDefault(row) && isEnough(row, best, missed, lacks, Infinity));
      if (own === undefined) {
        own = firstDefault(missed, lacks);
        if (own === undefined || !isEnough(own, best, missed, lacks, NO_GAIN)) return { best, ties };
      }
      return { best: own, ties: [best, ...ties.filter((row) => row !== own)] };
    }

    const defaults = byMerit.filter(isDefault);

    function firstDefault(missed, lacks) {
      const meeting = defaults.filter((row) => missed[row] === 0);
      return meeting.find((row) => !lacks(row)) ?? meeting[0]
        ?? [...defaults].sort((a, b) => missed[a] - missed[b])[0];
    }

    // ------------------------------------------------------------------ all together

    /** The constraints at a limit (null: none), by how much each row misses them, and the rows that
        may be the best. */
    function situationAt(limit) {
      const constraints = constraintsAt(limit);
      const missed = Float64Array.from(missedOthers);
      const [ofLimit] = constraints;
      if (limit !== null) {
        for (let row = 0; row < count; row++) {
          const value = over(row);
          if (value > limit) missed[row] += -margin(ofLimit, value) * 100;
        }
      }
      const lacks = (row) => lacksOthers[row] || (limit !== null && over(row) === null);
      return { constraints, missed, lacks, rows: closest(missed, lacks) };
    }

    /** The default to compare with, and whether it meets the constraints. */
    function baseOf(missed, lacks) {
      const base = firstDefault(missed, lacks);
      return { base, basePasses: base !== undefined && missed[base] === 0 };
    }

    /** Of one row, what `at` says of the best. */
    function about(row, limit) {
      const { constraints, missed, lacks, rows } = situationAt(limit);
      const passes = missed[row] === 0;
      const own = passes ? chance(constraints, expectedErrors(rows), row, 0) : null;
      return { passes, chance: own, ...baseOf(missed, lacks) };
    }

    /** The best row at a limit (null: none) and its ties; `passes` says whether it meets the
        constraints, `chance` how likely that is, `base` is the row of the default to compare with.
        Null without measurements. */
    function at(limit) {
      if (!count) return null;
      const { constraints, missed, lacks, rows } = situationAt(limit);
      const meeting = rows.filter((row) => missed[row] === 0);
      const known = meeting.filter((row) => !lacks(row));
      const passing = known.length ? known : meeting;
      let tie = rows.slice(0, 1);
      let chanceOf = () => null;
      if (passing.length) {
        const comparison = comparisonOf(rows);
        const expected = expectedErrors(rows);
        const chanceWith = (allowed) => (row) => chance(constraints, expected, row, allowed);
        const [sure, met] = [chanceWith(ALLOWED), chanceWith(0)];
        const hasRepeated = rows.some((row) => times(row) > 1);
        const isMet = (row) => {
          if (times(row) === 1 || isRound(row)) return missed[row] === 0 && sure(row) >= SAFE;
          return data.runs[row][data.limit].every((_, run) => shortfall(constraints, ({ tag }) => data.runs[row][tag][run]) === 0);
        };
        const best = undefeated(comparison, passing, (row) => !hasRepeated || isMet(row));
        tie = cheapestFirst(tied(comparison, hasRepeated ? assuredFirst(comparison, best, sure) : best, met));
        const first = undominated(tie[0], passing, constraints, met);
        tie = [first, ...tie.filter((row) => row !== first && tie.includes(first))];
        chanceOf = met;
      }
      const { best, ties } = defaultFirst(tie[0], tie.slice(1), missed, lacks);
      const passes = missed[best] === 0;
      return { best, ties: ties.filter((row) => !isSameTrial(row, best)), passes, chance: chanceOf(best), ...baseOf(missed, lacks) };
    }

    /** Whether two rows are the same trial under two names. */
    const isSameTrial = (a, b) => content(a) === content(b) && entry(data.loads, a) === entry(data.loads, b);

    /** How far a row is within the constraints on each metric; infinitely, if it was not measured. */
    function marginsOf(constraints, row) {
      const margins = new Map();
      for (const constraint of constraints) {
        const value = constraint.valueOf(row);
        const own = value === null ? Infinity : margin(constraint, value);
        margins.set(constraint.tag, Math.min(own, margins.get(constraint.tag) ?? Infinity));
      }
      return margins;
    }

    /** The chance that a row meets the constraints, or misses them by so many standard errors. */
    function chance(constraints, expected, row, allowed) {
      let probability = 1;
      for (const [tag, least] of marginsOf(constraints, row)) {
        const error = expected(row, tag);
        probability *= error ? normal(least / error + allowed) : Number(least >= 0);
      }
      return probability;
    }

    /** Whether a row meets all constraints but the limit. */
    const meetsOthers = (row) => missedOthers[row] === 0;

    return { at, about, count, gainPercent, over, value: objectiveValues[0], meetsOthers, isDefault };
  }

  return { create };
})();
