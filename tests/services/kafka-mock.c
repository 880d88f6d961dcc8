/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka-mock DIR: librdkafka's mock cluster, for a machine where no broker can be had. Writes its address to
 * DIR/bootstrap once it answers, then makes a topic for each line "NAME PARTITIONS" that comes through the
 * FIFO DIR/topics, until it is ended. A topic that is only produced to gets four partitions.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "kafka-mock: %s: %s\n", what, why);
    return 3;
}

/* Written beside its name first: a reader never sees half an address. */
static int write_bootstrap(const char *dir, const char *text)
{
    char name[4096], temporary[4096 + 4];
    snprintf(name, sizeof name, "%s/bootstrap", dir);
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    FILE *f = fopen(temporary, "w");
    if (!f || fprintf(f, "%s\n", text) < 0 || fclose(f) != 0 || rename(temporary, name) != 0)
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    char errstr[512], path[4096], line[512], topic[256];
    int partitions;
    if (argc != 2)
        return fail("usage", "kafka-mock DIR");
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, NULL, errstr, sizeof errstr);
    if (!rk)
        return fail("rd_kafka_new", errstr);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(rk, 1);
    if (!cluster)
        return fail("rd_kafka_mock_cluster_new", "failed");
    if (write_bootstrap(argv[1], rd_kafka_mock_cluster_bootstraps(cluster)) != 0)
        return fail(argv[1], "cannot write bootstrap");

    snprintf(path, sizeof path, "%s/topics", argv[1]);
    FILE *commands = fopen(path, "r+"); /* r+: our own writing end keeps the FIFO open */
    if (!commands)
        return fail(path, "cannot open");
    while (fgets(line, sizeof line, commands)) {
        if (sscanf(line, "%255s %d", topic, &partitions) != 2)
            continue;
        rd_kafka_resp_err_t err = rd_kafka_mock_topic_create(cluster, topic, partitions, 1);
        if (err)
            fail(topic, rd_kafka_err2str(err));
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(rk);
    return 0;
}
