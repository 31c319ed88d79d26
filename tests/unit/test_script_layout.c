/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_script_layout.c - layouts and models that job scripts give to Megatron-LM, Megatron-Bridge,
 * TorchTitan */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/env/script_layout.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "Megatron-LM tp8,pp8 N64 G8 line 3" */
static const char *read_words(const char *text)
{
	static const char *const names[] = {"none", "Megatron-LM", "Megatron-Bridge", "TorchTitan"};
	static char words[256];
	char layout[OSP_LAYOUT_TEXT_BYTES];
	struct osp_error error = {.text = ""};
	struct osp_script_layout found;

	if (osp_script_layout_read("job.sh", text, strlen(text), &found, &error)) {
		osp_error_format(&error, words, sizeof(words));
		return words;
	}
	snprintf(words, sizeof(words), "%s %s N%u G%u line %d", names[found.framework],
		 osp_layout_format(&found.layout, layout, sizeof(layout)), found.nodes,
		 found.gpus_per_node, found.line);
	return words;
}

static const struct {
	const char *text;
	const char *words;
} cases[] = {
	{"#!/bin/bash\necho hello\n", "none dp1 N0 G0 line 0"},
	{"#!/bin/bash\n#SBATCH -N 64 --gres=gpu:h100:8\nsrun python pretrain_gpt.py "
	 "--tensor-model-parallel-size 8 --pipeline-model-parallel-size=8\n",
	 "Megatron-LM tp8,pp8 N64 G8 line 3"},
	{"#SBATCH --nodes=4\n#SBATCH --gpus-per-node=4\nARGS=(\n  --tensor_model_parallel_size 4\n"
	 "  --use-tp-pp-dp-mapping\n)\ntorchrun train.py \"${ARGS[@]}\"\n",
	 "Megatron-LM tp4,order=tp-pp-dp N4 G4 line 4"},
	{"TP=${TP:-8}\nPP=4\nsrun torchrun --nproc_per_node=8 x.py --tensor-model-parallel-size "
	 "$TP "
	 "--pipeline-model-parallel-size \"${PP}\" --context-parallel-size ${CP:-2}\n",
	 "Megatron-LM tp8,cp2,pp4 N0 G8 line 3"},
	{"OPTIONS=\"--tensor-model-parallel-size 2 \\\n  --expert-model-parallel-size 8\"\n"
	 "srun x $OPTIONS\n",
	 "Megatron-LM tp2,ep8 N0 G0 line 1"},
	{"srun bash -c 'torchrun x.py --tensor-model-parallel-size 2'\n",
	 "Megatron-LM tp2 N0 G0 line 1"},
	{"srun python run.py model.tensor_model_parallel_size=2 "
	 "+model.pipeline_model_parallel_size=4 dist.use_tp_pp_dp_mapping=true\n",
	 "Megatron-Bridge tp2,pp4,order=tp-pp-dp N0 G0 line 1"},
	{"srun python run.py model.tensor_model_parallel_size=2 dist.use_tp_pp_dp_mapping=False\n",
	 "Megatron-Bridge tp2 N0 G0 line 1"},
	{"torchrun x.py --parallelism.tensor_parallel_degree=8 "
	 "--parallelism.data_parallel_shard_degree=-1 "
	 "--parallelism.data_parallel_replicate_degree 2\n",
	 "TorchTitan tp8,dpr2,order=torchtitan N0 G0 line 1"},
	{"torchrun x.py --parallelism.data_parallel_shard_degree=4 "
	 "--parallelism.data_parallel_replicate_degree 2\n",
	 "TorchTitan dp8,dpr2,order=torchtitan N0 G0 line 1"},
	/* NeMo's way: a here-document in a variable, given to bash -c */
	{"#SBATCH -N 16\nread -r -d '' cmd <<EOF\npython3 -u x.py trainer.num_nodes=16 \\\n"
	 "  model.tensor_model_parallel_size=8 ++model.pipeline_model_parallel_size=4\nEOF\n"
	 "srun bash -c \"${cmd}\"\n",
	 "Megatron-Bridge tp8,pp4 N16 G0 line 4"},
	/* what is only written to a file is not the job's */
	{"cat >x.sh <<EOF\npython x.py model.tensor_model_parallel_size=8\nEOF\n",
	 "none dp1 N0 G0 line 0"},
	/* a shape alone is no layout */
	{"python x.py --hidden-size 1024 --num-layers 8\n", "none dp1 N0 G0 line 0"},
	/* what cannot be told */
	{"srun x --tensor-model-parallel-size $TP\n",
	 "job.sh:1:8: --tensor-model-parallel-size $TP: the shell puts this value in, and the "
	 "script "
	 "does not tell one number; say --layout=tp..,pp..,dp.. instead"},
	{"TP=2\nTP=4\nsrun x --tensor-model-parallel-size $TP\n", "Megatron-LM tp4 N0 G0 line 3"},
	{"TP=2\nA=\"--tensor-model-parallel-size $TP --x\"\nTP=4\nsrun x $A\n",
	 "job.sh:2: --tensor-model-parallel-size $TP: the shell puts this value in, and the script "
	 "does not tell one number; say --layout=tp..,pp..,dp.. instead"},
	/* line ends of DOS */
	{"#SBATCH -N 4\r\nTP=8\r\nsrun x --tensor-model-parallel-size $TP\r\n",
	 "Megatron-LM tp8 N4 G0 line 3"},
	{"srun x \\\r\n  --tensor-model-parallel-size \\\r\n  8\r\n",
	 "Megatron-LM tp8 N0 G0 line 2"},
	{"TP=2\ncmd\nTP=4\nsrun x --tensor-model-parallel-size $TP\n",
	 "job.sh:4:8: --tensor-model-parallel-size $TP: the shell puts this value in, and the "
	 "script "
	 "does not tell one number; say --layout=tp..,pp..,dp.. instead"},
	{"TP=2\nsrun x --tensor-model-parallel-size ${TP}0\n",
	 "job.sh:2:8: --tensor-model-parallel-size ${TP}0: the shell puts this value in, and the "
	 "script does not tell one number; say --layout=tp..,pp..,dp.. instead"},
	{"srun x --tensor-model-parallel-size eight\n",
	 "job.sh:1:8: --tensor-model-parallel-size 'eight': a whole number from 1"},
	{"srun x --tensor-model-parallel-size\n",
	 "job.sh:1:8: --tensor-model-parallel-size '': a whole number from 1"},
	{"srun x --tensor-model-parallel-size -1\n",
	 "job.sh:1:8: --tensor-model-parallel-size '-1': a whole number from 1"},
	{"srun x --model-parallel-size 8\n",
	 "job.sh:1:8: Megatron-LM refuses --model-parallel-size; type "
	 "--tensor-model-parallel-size"},
	{"A=\"--x 1 --pipeline-model-parallel-size y\"\n",
	 "job.sh:1: --pipeline-model-parallel-size 'y': a whole number from 1"},
};

static void test_layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(read_words(cases[i].text), cases[i].words);
}

static void test_model(void **state)
{
	static const char text[] = "HIDDEN=12288\n"
				   "srun x --tensor-model-parallel-size 8 "
				   "--pipeline-model-parallel-size 8 --num-layers 96 "
				   "--hidden-size $HIDDEN --seq-length 2048 --micro-batch-size 1 "
				   "--global-batch-size 512 "
				   "--swiglu --use-distributed-optimizer --num-attention-heads 96 "
				   "--ffn-hidden-size $UNKNOWN\n";
	struct osp_script_layout found;

	(void)state;
	assert_int_equal(osp_script_layout_read("f", text, strlen(text), &found, NULL), 0);
	assert_int_equal(osp_layout_complete(&found.layout, 64, 8, NULL), 0);
	osp_script_layout_batches(&found);
	assert_true(found.model.hidden == 12288 && found.model.layers == 96);
	assert_true(found.model.sequence == 2048 && found.model.matrices == 3);
	assert_true(found.model.micro_batches == 64 && found.model.ffn == 0);
	assert_int_equal(found.model.gradients, OSP_GRADIENTS_ZERO1);
}

/* NeMo has the names of the shape and of batches below model. */
static void test_nemo_model(void **state)
{
	static const char text[] =
		"srun x model.tensor_model_parallel_size=8 model.encoder_seq_length=4096 "
		"model.hidden_size=8192 model.num_layers=80 model.ffn_hidden_size=28672 "
		"model.num_attention_heads=64 model.num_query_groups=8 model.micro_batch_size=2 "
		"model.global_batch_size=256\n";
	struct osp_script_layout found;

	(void)state;
	assert_int_equal(osp_script_layout_read("f", text, strlen(text), &found, NULL), 0);
	assert_int_equal(osp_layout_complete(&found.layout, 16, 8, NULL), 0);
	osp_script_layout_batches(&found);
	assert_true(found.model.sequence == 4096 && found.model.ffn == 28672);
	assert_true(found.model.heads == 64 && found.model.kv_heads == 8);
	assert_true(found.model.micro_batches == 8);
}

static void test_stated(void **state)
{
	static const char text[] = "export NVLINK_DOMAIN_SIZE=72\n"
				   "NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN=64 srun x\n";
	struct osp_script_layout found;

	(void)state;
	assert_int_equal(osp_script_layout_read("f", text, strlen(text), &found, NULL), 0);
	assert_int_equal(found.domain_size.value, 72);
	assert_int_equal(found.domain_size.line, 1);
	assert_int_equal(found.domain_ranks.value, 64);
	assert_int_equal(found.domain_ranks.line, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_nemo_model),
		cmocka_unit_test(test_stated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
