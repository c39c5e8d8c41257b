// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
//
// A discrete-event simulation of an inference server that forms batches as Triton does.
//
//   client -> front end -> network -> ( queue -> batcher -> instances ) of each stage -> client
//
// An instance that is free takes what waits, up to the batch limit; with a queue delay it lets the
// first of them wait so long for more. A batch is launched by cores of the CPU, copied over a
// link, and computed on a device (a GPU, or the CPU itself). All batches in the same of these
// phases share what it needs, so that each of them goes at a pace: 1 is that of a batch alone.
// Paces change with events only, and the simulation goes from one event to the next.
//
// Times are in milliseconds. The structures are those of simulator.py, which says what they mean.

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum phase { LAUNCH, COPY, COMPUTE, PHASES };

struct stage {
  int instances;
  int batch_limit;
  double delay_ms;
  double cores;
  const double *phase_ms[PHASES];  // by the size of the batch, as is the next
  const double *occupancy;
};

struct server {
  const struct stage *stages;
  int stage_count;
  int open_loop;
  int front_workers;
  double front_ms, front_crowd, front_crowd_power, front_jitter;
  double network_ms;
  double cores, core_thrash;
  double link_share;
  double interference, device_thrash;
  double clock_drop, clock_from, clock_ms;
  double pause_every, pause_ms;
  double jitter;
};

// What a stage did while it was measured: batches, requests in them, and how long these took.
struct work {
  double batches, requests, busy_ms;
};

// What rounding may leave of something that is done.
static const double NEARLY = 1e-9;

// How long an open loop runs before it is measured, and for how long it is. A closed loop is
// measured after so many answers, and so many for each request in flight.
static const double WARMUP_MS = 1000, WINDOW_MS = 5000;
static const double WARMUP_ANSWERS = 1000, WARMUP_ROUNDS = 3;

// Unlike fmin and fmax, these are no calls.
static double least(double a, double b) { return a < b ? a : b; }

static double most(double a, double b) { return a > b ? a : b; }

// -- random numbers -------------------------------------------------------------------------------

// Xorshift: the same everywhere for the same seed. Between 0 and 1, without both.
static double uniform(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return ((*state >> 11) + 0.5) / 9007199254740992.0;
}

// A factor of mean 1, whose logarithm has this standard deviation.
static double jittered(uint64_t *state, double sigma) {
  if (sigma <= 0) return 1;
  double radius = sqrt(-2 * log(uniform(state)));
  double normal = radius * cos(6.283185307179586 * uniform(state));
  return exp(sigma * least(normal, 4) - sigma * sigma / 2);
}

static double exponential(uint64_t *state, double mean) { return mean * -log(uniform(state)); }

// -- queues ---------------------------------------------------------------------------------------

// First come, first served: requests, and when each comes or came. A ring of a power of two.
struct queue {
  unsigned head, tail, mask;
  int *requests;
  double *times;
};

static struct queue new_queue(unsigned size) {
  return (struct queue){0, 0, size - 1, calloc(size, sizeof(int)), calloc(size, sizeof(double))};
}

static void free_queue(struct queue *queue) {
  free(queue->requests);
  free(queue->times);
}

static unsigned length(const struct queue *queue) { return queue->tail - queue->head; }

static double time_at(const struct queue *queue, unsigned place) {
  return queue->times[(queue->head + place) & queue->mask];
}

// Those that come later stay behind it.
static void push(struct queue *queue, int request, double time) {
  unsigned place = queue->tail++;
  for (; place != queue->head && queue->times[(place - 1) & queue->mask] > time; place--) {
    queue->requests[place & queue->mask] = queue->requests[(place - 1) & queue->mask];
    queue->times[place & queue->mask] = queue->times[(place - 1) & queue->mask];
  }
  queue->requests[place & queue->mask] = request;
  queue->times[place & queue->mask] = time;
}

static int pop(struct queue *queue) { return queue->requests[queue->head++ & queue->mask]; }

// -- the simulation -------------------------------------------------------------------------------

struct instance {
  int stage;
  int size;  // of its batch; 0: it is free
  enum phase phase;
  double left;  // of the phase, at pace 1
  double jitter;
  double began;
  int *requests;
};

struct simulation {
  const struct server *server;
  uint64_t random;
  double now;

  double *sent;  // when, by request
  unsigned sent_count, sent_mask;
  double next_send, mean_gap;  // of an open loop

  double front_ms;       // under this load
  double *free_at;       // when, by worker of the front end
  struct queue *queues;  // by stage

  struct instance *instances;
  int instance_count;
  double device_use;  // the mean of the last clock_ms, about
  double pause_left;
  double answers_since_pause;

  double answers;
  int measuring;
  double *latencies;
  long measured, room;
  struct work *works;  // by stage
};

// What becomes of a request in the front end is known at once: when it comes to the first stage.
static void send(struct simulation *s, int request) {
  double *free_at = s->free_at;
  for (int i = 1; i < s->server->front_workers; i++)
    if (s->free_at[i] < *free_at) free_at = &s->free_at[i];
  double took = s->front_ms * jittered(&s->random, s->server->front_jitter);
  *free_at = most(*free_at, s->now) + took;
  s->sent[request] = s->now;
  push(&s->queues[0], request, *free_at + s->server->network_ms);
}

static struct instance *free_instance(struct simulation *s, int stage) {
  for (int i = 0; i < s->instance_count; i++)
    if (s->instances[i].stage == stage && s->instances[i].size == 0) return &s->instances[i];
  return NULL;
}

static void enter_phase(struct simulation *s, struct instance *one, enum phase phase) {
  one->phase = phase;
  one->left = s->server->stages[one->stage].phase_ms[phase][one->size];
  if (phase != COPY) one->left *= one->jitter;
}

// When an instance that is free may take a batch: it is full, or the first of it waited enough.
static double batch_time(const struct stage *stage, const struct queue *queue) {
  double patience_ends = time_at(queue, 0) + stage->delay_ms;
  if (length(queue) < (unsigned)stage->batch_limit) return patience_ends;
  return least(patience_ends, time_at(queue, stage->batch_limit - 1));
}

// Batches for all instances that are free; gives the time of the next that is known by now.
static double start_batches(struct simulation *s) {
  double next = INFINITY;
  for (int number = 0; number < s->server->stage_count; number++) {
    const struct stage *stage = &s->server->stages[number];
    struct queue *queue = &s->queues[number];
    struct instance *one;
    while (length(queue) > 0 && (one = free_instance(s, number)) != NULL) {
      double time = batch_time(stage, queue);
      if (time > s->now + NEARLY) {
        next = least(next, time);
        break;
      }
      while (one->size < stage->batch_limit && length(queue) > 0 &&
             time_at(queue, 0) <= s->now + NEARLY)
        one->requests[one->size++] = pop(queue);
      one->jitter = jittered(&s->random, s->server->jitter);
      one->began = s->now;
      enter_phase(s, one, LAUNCH);
    }
  }
  return next;
}

// The pace of each phase as it is shared now; gives the share of the device that is in use.
static double find_paces(const struct simulation *s, double pace[PHASES]) {
  const struct server *server = s->server;
  double cores = 0, occupied = 0;
  int copies = 0, computing = 0;
  for (int i = 0; i < s->instance_count; i++) {
    const struct instance *one = &s->instances[i];
    if (one->size == 0) continue;
    const struct stage *stage = &server->stages[one->stage];
    cores += one->phase == LAUNCH ? stage->cores : 0;
    copies += one->phase == COPY;
    computing += one->phase == COMPUTE;
    occupied += one->phase == COMPUTE ? stage->occupancy[one->size] : 0;
  }
  double wanted = cores / server->cores;
  pace[LAUNCH] = wanted > 1 ? 1 / wanted / (1 + server->core_thrash * (wanted - 1)) : 1;
  pace[COPY] = copies > 1 ? 1 / (1 + server->link_share * (copies - 1)) : 1;
  pace[COMPUTE] = occupied > 1 ? 1 / occupied / (1 + server->device_thrash * (occupied - 1)) : 1;
  if (computing > 1) pace[COMPUTE] /= 1 + server->interference * (computing - 1);
  if (server->clock_drop > 0) {
    double above = (s->device_use - server->clock_from) / (1 - server->clock_from);
    pace[COMPUTE] *= 1 - server->clock_drop * least(most(above, 0), 1);
  }
  if (s->pause_left > 0) pace[LAUNCH] = pace[COPY] = pace[COMPUTE] = 0;
  return least(occupied, 1);
}

// When the first of all phases ends, or the pause.
static double phase_end(const struct simulation *s, const double pace[PHASES]) {
  if (s->pause_left > 0) return s->now + s->pause_left;
  double next = INFINITY;
  for (int i = 0; i < s->instance_count; i++) {
    const struct instance *one = &s->instances[i];
    if (one->size > 0) next = least(next, s->now + one->left / pace[one->phase]);
  }
  return next;
}

static void answer(struct simulation *s, int request) {
  s->answers++;
  s->answers_since_pause++;
  if (s->measuring) {
    if (s->measured < s->room) s->latencies[s->measured] = s->now - s->sent[request];
    s->measured++;
  }
  if (!s->server->open_loop) send(s, request);
}

// A batch is through a stage.
static void finish_batch(struct simulation *s, struct instance *one) {
  if (s->measuring) {
    struct work *work = &s->works[one->stage];
    work->batches++;
    work->requests += one->size;
    work->busy_ms += s->now - one->began;
  }
  for (int i = 0; i < one->size; i++) {
    if (one->stage + 1 < s->server->stage_count)
      push(&s->queues[one->stage + 1], one->requests[i], s->now);
    else
      answer(s, one->requests[i]);
  }
  one->size = 0;
  if (s->server->pause_every > 0 && s->answers_since_pause >= s->server->pause_every) {
    s->answers_since_pause = 0;
    s->pause_left = s->server->pause_ms * jittered(&s->random, 0.25);
  }
}

static void work(struct simulation *s, double passed, const double pace[PHASES]) {
  s->pause_left -= least(passed, s->pause_left);
  if (s->pause_left < NEARLY) s->pause_left = 0;
  for (int i = 0; i < s->instance_count; i++) {
    struct instance *one = &s->instances[i];
    if (one->size == 0) continue;
    one->left -= passed * pace[one->phase];
    while (one->left <= NEARLY && one->phase < COMPUTE) enter_phase(s, one, one->phase + 1);
    if (one->left <= NEARLY) finish_batch(s, one);
  }
}

// Goes to the next event.
static void step(struct simulation *s) {
  double next = least(start_batches(s), s->next_send);
  double pace[PHASES];
  double used = find_paces(s, pace);
  next = least(next, phase_end(s, pace));
  double passed = most(next - s->now, 0);
  if (s->server->clock_drop > 0)
    s->device_use += (used - s->device_use) * (1 - exp(-passed / s->server->clock_ms));
  s->now = next;
  work(s, passed, pace);
  if (s->next_send <= s->now) {
    send(s, (int)(s->sent_count++ & s->sent_mask));
    s->next_send = s->now + exponential(&s->random, s->mean_gap);
  }
}

// A closed loop sends all that it has in flight, an open loop begins soon.
static void send_first(struct simulation *s, double load) {
  s->mean_gap = 1000 / load;
  s->next_send = s->server->open_loop ? exponential(&s->random, s->mean_gap) : INFINITY;
  if (!s->server->open_loop)
    for (int request = 0; request < (int)load; request++) send(s, request);
}

// Gives how many requests were measured; their latencies are written where there is room.
static long measure(struct simulation *s, double load, double *elapsed_ms) {
  int is_open = s->server->open_loop;
  double warmup = WARMUP_ANSWERS + WARMUP_ROUNDS * load;
  send_first(s, load);
  while (is_open ? s->now < WARMUP_MS : s->answers < warmup) step(s);
  double began = s->now;
  s->measuring = 1;
  while (is_open ? s->now < began + WINDOW_MS : s->measured < s->room) step(s);
  *elapsed_ms = s->now - began;
  return s->measured;
}

// The most requests in flight, as a power of two: an open loop may answer none of those it sends.
static unsigned most_in_flight(const struct server *server, double load) {
  double requests = server->open_loop ? 64 + 2 * load * (WARMUP_MS + WINDOW_MS) / 1000 : load;
  unsigned size = 1;
  while (size < requests) size *= 2;
  return size;
}

// Measures the server under a load: requests in flight, or per second in an open loop. A closed
// loop is measured until there is no more room, an open loop for a window. What each stage does is
// added to its work.
long simulate(const struct server *server, double load, uint64_t seed, double *latencies, long room,
              double *elapsed_ms, struct work *works) {
  unsigned size = most_in_flight(server, load);
  struct simulation s = {
      .server = server,
      .random = seed * 0x9E3779B97F4A7C15ull + 88172645463325252ull,
      .sent = calloc(size, sizeof(double)),
      .sent_mask = size - 1,
      .front_ms = server->front_ms,
      .free_at = calloc(server->front_workers, sizeof(double)),
      .queues = calloc(server->stage_count, sizeof(struct queue)),
      .device_use = 0.7,  // neither idle nor at its limit
      .latencies = latencies,
      .room = room,
      .works = works,
  };
  if (!server->open_loop)
    s.front_ms *= 1 + pow(load / server->front_crowd, server->front_crowd_power);
  for (int i = 0; i < 10; i++) uniform(&s.random);
  for (int i = 0; i < server->stage_count; i++) {
    s.queues[i] = new_queue(size);
    s.instance_count += server->stages[i].instances;
  }
  s.instances = calloc(s.instance_count, sizeof(struct instance));
  struct instance *one = s.instances;
  for (int i = 0; i < server->stage_count; i++)
    for (int j = 0; j < server->stages[i].instances; j++, one++) {
      one->stage = i;
      one->requests = calloc(server->stages[i].batch_limit, sizeof(int));
    }

  long measured = measure(&s, load, elapsed_ms);

  for (int i = 0; i < s.instance_count; i++) free(s.instances[i].requests);
  for (int i = 0; i < server->stage_count; i++) free_queue(&s.queues[i]);
  free(s.instances);
  free(s.queues);
  free(s.free_at);
  free(s.sent);
  return measured;
}
